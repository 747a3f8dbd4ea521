// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PART_HPP
#define STEMMA_PART_HPP

#include <stemma/config.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace stemma::inline STEMMA_ABI {

class model_part;

/// A part of a model, cut out but not yet written: a runnable model of its own. Cheap to copy.
///
/// Requires: the model it was cut from outlives it.
class part {
public:
    /// Refers to what was cut out.
    explicit part(std::shared_ptr<const model_part> made) : part_(std::move(made)) {}

    /// Returns: the names of its input values, valid as long as this; a temporary gives none.
    [[nodiscard]] std::span<const std::string> inputs() const&;
    std::span<const std::string> inputs() const&& = delete;

    /// Returns: the names of its output values, likewise.
    [[nodiscard]] std::span<const std::string> outputs() const&;
    std::span<const std::string> outputs() const&& = delete;

    /// Returns: the number of nodes, not counting those in bodies.
    [[nodiscard]] std::size_t size() const;

    /// Whether it is deterministic: no operator in it is random.
    [[nodiscard]] bool is_exact() const;

    /// Returns: the part as an ONNX file. Weights that the model stores in other files stay there.
    /// Throws: `error` of `error_code::too_large` for 2 GiB or more. Complexity: O(bytes).
    [[nodiscard]] std::string bytes() const;

    /// Writes the part as an ONNX file, replacing an existing one. Weights that the model stores in
    /// other files stay there if it is written beside the model; else they go to `<path>.data` or,
    /// as `cut_options::data` says, are linked or stay. Those of 2 GiB or more go there too.
    /// Throws: `error` of `error_code::exists` for an existing file of weights, unless
    /// `cut_options::force` is set; of `cannot_write` or `too_large`. Complexity: O(bytes).
    void write(const std::string& path) const;

private:
    std::shared_ptr<const model_part> part_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PART_HPP
