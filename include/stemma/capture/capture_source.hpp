// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CAPTURE_CAPTURE_SOURCE_HPP
#define STEMMA_CAPTURE_CAPTURE_SOURCE_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/given_claims.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/stated_module.hpp>
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

namespace detail {

/// What the parts of a capture other than its modules say about a model.
struct captured_evidence {
    std::vector<claim_table> claims; ///< a table for each part of the capture with claims
    std::vector<std::string> notes;  ///< messages for the user
    bool decides = false;            ///< no other source is queried about nodes with such a claim
    carried_facts carried{};         ///< if tags are carried over from another model
    std::function<source_lines()> sources{}; ///< finds source lines, if it knows any
};

/// An opened capture, as used by attribution.
class opened_capture {
public:
    opened_capture() = default;
    opened_capture(const opened_capture&) = delete;
    opened_capture& operator=(const opened_capture&) = delete;
    virtual ~opened_capture() = default;

    /// The modules.
    [[nodiscard]] virtual module_tree modules() = 0;

    /// Returns: why it is a capture of another model, if it is.
    [[nodiscard]] virtual std::optional<std::string>
    is_foreign(const onnx_operators<wire_model>& ops, const module_tree& modules) = 0;

    /// Returns: the modules with those implied only by operators, if there are any: a list of
    /// modules may lack some without parameters. Called after `is_foreign`.
    [[nodiscard]] virtual std::optional<module_tree> complete(const module_tree&) {
        return std::nullopt;
    }

    /// Whether `find_claims` has anything to read.
    [[nodiscard]] virtual bool has_operations() const = 0;

    /// Returns: a function that finds the lines at which modules begin, if known; for captures
    /// without operations.
    [[nodiscard]] virtual std::function<source_lines()>
    module_lines(const wire_model&, const onnx_operators<wire_model>&, const module_tree&,
                 const detail::path_mapping&) const {
        return {};
    }

    /// Makes claims about the nodes of a model; `uses(source)` selects the parts, `find_stated()`
    /// determines what the file itself says about each node. Alignment makes none where that
    /// settles it.
    [[nodiscard]] virtual captured_evidence
    find_claims(const wire_model& model, const onnx_operators<wire_model>& ops,
                const module_tree& modules, const detail::path_mapping& mapping,
                const std::function<bool(provenance)>& uses,
                const std::function<std::vector<stated_module>()>& find_stated) = 0;
};

} // namespace detail

/// What PyTorch knew about a model, read when the model is opened: none, or the result of
/// `captures` in `capture/captures.hpp`.
class capture_source {
public:
    /// No capture.
    capture_source() = default;

    /// The result of `open()`; `name` stands for it in messages.
    explicit capture_source(std::function<std::unique_ptr<detail::opened_capture>()> open,
                            std::string name = "capture")
        : open_(std::move(open)), name_(std::move(name)) {}

    /// Whether there is none.
    [[nodiscard]] bool empty() const noexcept { return !open_; }

    /// Its name in messages: its files.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Returns: the opened capture. Requires: there is one.
    [[nodiscard]] std::unique_ptr<detail::opened_capture> open() const { return open_(); }

private:
    std::function<std::unique_ptr<detail::opened_capture>()> open_;
    std::string name_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CAPTURE_CAPTURE_SOURCE_HPP
