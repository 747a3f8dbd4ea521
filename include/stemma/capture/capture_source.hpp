// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CAPTURE_CAPTURE_SOURCE_HPP
#define STEMMA_CAPTURE_CAPTURE_SOURCE_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/given_claims.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/node_origins.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// What the parts of a capture besides its modules say of a model.
struct captured_evidence {
    std::vector<claim_table> claims; ///< a table for each part of the capture that says something
    std::vector<std::string> notes;  ///< what a user should know of how it went
    bool decides = false;            ///< no other source is asked about nodes with such a claim
    carried_facts carried{};         ///< where tags are carried over from another model
    std::function<source_lines()> sources{}; ///< finds lines of programs, where it knows some
};

/// A capture that was read, as attribution asks it.
class opened_capture {
public:
    opened_capture() = default;
    opened_capture(const opened_capture&) = delete;
    opened_capture& operator=(const opened_capture&) = delete;
    virtual ~opened_capture() = default;

    /// The modules.
    [[nodiscard]] virtual module_tree modules() = 0;

    /// Returns: why it is one of another model, if it is.
    [[nodiscard]] virtual std::optional<std::string>
    is_foreign(const onnx_operators<wire_model>& ops, const module_tree& modules) = 0;

    /// Returns: the modules with those that only the operators speak of, where there are any: what
    /// lists modules may lack some that have no parameters. Asked behind `is_foreign`.
    [[nodiscard]] virtual std::optional<module_tree> complete(const module_tree&) {
        return std::nullopt;
    }

    /// Whether `find_claims` has anything to read.
    [[nodiscard]] virtual bool has_operations() const = 0;

    /// Returns: what finds the lines at which modules begin, where they are known; for captures
    /// without operations.
    [[nodiscard]] virtual std::function<source_lines()>
    module_lines(const wire_model&, const onnx_operators<wire_model>&, const module_tree&,
                 const detail::path_mapping&) const {
        return {};
    }

    /// Finds what it claims about the nodes of a model: of nodes that are `open` what is aligned.
    /// `uses(source)` says which of its parts are asked, `find_open()` which nodes are open.
    [[nodiscard]] virtual captured_evidence
    find_claims(const wire_model& model, const onnx_operators<wire_model>& ops,
                const module_tree& modules, const detail::path_mapping& mapping,
                const std::function<bool(provenance)>& uses,
                const std::function<std::vector<bool>()>& find_open) = 0;
};

/// What PyTorch knew of a model, to be read when the model is attributed: none, or what
/// `captures` of `capture/captures.hpp` returns.
class capture_source {
public:
    /// No capture.
    capture_source() = default;

    /// What `open()` returns.
    explicit capture_source(std::function<std::unique_ptr<opened_capture>()> open)
        : open_(std::move(open)) {}

    /// Whether there is none.
    [[nodiscard]] bool empty() const noexcept { return !open_; }

    /// Returns: the capture, read. Requires: there is one.
    [[nodiscard]] std::unique_ptr<opened_capture> open() const { return open_(); }

private:
    std::function<std::unique_ptr<opened_capture>()> open_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CAPTURE_CAPTURE_SOURCE_HPP
