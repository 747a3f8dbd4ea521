// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_FUNCTION_NAMES_HPP
#define STEMMA_EVIDENCE_DETAIL_FUNCTION_NAMES_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The domain of functions that torch.cond and the like make.
inline constexpr std::string_view subgraph_domain = "pkg.torch.__subgraph__";

/// Derives from the names of functions which modules they were made for, as torch does when it
/// writes a function for each call of a module, in the domain `pkg.` and its package: the class
/// followed by the path, with `_` for everything but letters and digits, and the number of the
/// call: `torch_nn_modules_linear_Linear_encoder_layer_0_fc_1`.
template <calling_operators Ops, module_view Modules>
class function_names {
public:
    /// Requires: both outlive it. Complexity: O(length of paths), and for each function with such a
    /// name that of `module_of`, up to the first that names a module.
    function_names(const Ops& ops, const Modules& modules) : ops_(ops), modules_(modules) {
        for (id f = 0; f < ops.function_count() && !any_; ++f) {
            any_ = module_of(f, 0, no_id) != no_id;
        }
    }

    /// Whether such a function exists.
    [[nodiscard]] bool any() const noexcept { return any_; }

    /// Returns: the module below `top` that a function was made for; `no_id` for other functions.
    /// `owner` is the module that holds the parameters passed, or `no_id`.
    /// Complexity: O(modules below `top` * length of the name).
    [[nodiscard]] id module_of(id function, id top, id owner) const {
        const auto text = path_in(function);
        if (text.empty()) {
            return no_id;
        }
        const auto& tree = modules_.index();
        id best = no_id;
        for (auto m = top + 1; m < tree.end(top); ++m) {
            const auto& path = plain_path_of(m);
            const auto rest = text.size() - path.size();
            if (path.empty() || !text.ends_with(path) || (rest > 0 && text[rest - 1] != '_') ||
                (best != no_id && path.size() <= plain_path_of(best).size())) {
                continue;
            }
            // The path of a module that the tree lacks may end like that of another.
            const bool whole =
                rest == 0 || ends_in_class(std::string_view(text).substr(0, rest - 1));
            if (whole || (owner != no_id && tree.is_ancestor(m, owner))) {
                best = m;
            }
        }
        return best;
    }

private:
    /// Returns: the name before its number; "" for names of another form.
    [[nodiscard]] std::string path_in(id function) const {
        const std::string_view name = ops_.function_name(function);
        const std::string_view domain = ops_.function_domain(function);
        const auto number = name.rfind('_');
        const bool branch = domain == subgraph_domain;
        if (!domain.starts_with("pkg.") || branch || number == name.npos ||
            !is_number(name.substr(number + 1))) {
            return {};
        }
        return plain_path(name.substr(0, number));
    }

    /// Returns: a text with one `_` for each run of other characters than letters and digits.
    [[nodiscard]] static std::string plain_path(std::string_view text) {
        std::string plain;
        for (char c : text) {
            const bool word = is_alphanumeric(c);
            if (word || (!plain.empty() && plain.back() != '_')) {
                plain.push_back(word ? c : '_');
            }
        }
        if (!plain.empty() && plain.back() == '_') {
            plain.pop_back();
        }
        return plain;
    }

    [[nodiscard]] const std::string& plain_path_of(id m) const {
        if (plain_.empty()) {
            for (id each = 0; each < modules_.index().size(); ++each) {
                plain_.push_back(plain_path(path_of(modules_, each)));
            }
        }
        return plain_[m];
    }

    /// Whether the last word is capitalized like a class, or is dynamo's name for the model itself.
    [[nodiscard]] static bool ends_in_class(std::string_view text) {
        const auto word = text.substr(text.rfind('_') + 1);
        return text.ends_with("L_self") || (!word.empty() && word[0] >= 'A' && word[0] <= 'Z');
    }

    const Ops& ops_;
    const Modules& modules_;
    bool any_ = false;
    mutable std::vector<std::string> plain_; // paths, by module; filled on demand
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_FUNCTION_NAMES_HPP
