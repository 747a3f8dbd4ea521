// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_FUNCTION_NAMES_HPP
#define STEMMA_EVIDENCE_DETAIL_FUNCTION_NAMES_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
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
    /// Complexity: O(length of the name), times a logarithm; that of paths, once.
    [[nodiscard]] id module_of(id function, id top, id owner) const {
        const auto text = path_in(function);
        if (text.empty()) {
            return no_id;
        }
        const auto& tree = modules_.index();
        id best = no_id;
        auto hash = fnv1a("");
        for (auto begin = text.size(); begin-- > 0;) { // ends of the text, the longest last
            hash = fnv1a({&text[begin], 1}, hash);
            if (begin > 0 && text[begin - 1] != '_') {
                continue;
            }
            const auto end = std::string_view(text).substr(begin);
            // The path of a module that the tree lacks may end like that of another.
            const bool whole =
                begin == 0 || ends_in_class(std::string_view(text).substr(0, begin - 1));
            const auto& paths = plain_paths();
            for (auto at = std::lower_bound(paths.begin(), paths.end(), plain{hash, top + 1, {}});
                 at != paths.end() && at->hash == hash && at->module < tree.end(top); ++at) {
                if (at->path == end &&
                    (whole || (owner != no_id && tree.is_ancestor(at->module, owner)))) {
                    best = at->module;
                    break;
                }
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

    /// The path of a module, and the hash of that read backwards.
    struct plain {
        std::uint64_t hash = 0;
        id module = no_id;
        std::string path{};

        [[nodiscard]] bool operator<(const plain& other) const {
            return std::pair(hash, module) < std::pair(other.hash, other.module);
        }
    };

    [[nodiscard]] const std::vector<plain>& plain_paths() const {
        if (plain_.empty()) {
            for (id m = 0; m < modules_.index().size(); ++m) {
                auto path = plain_path(path_of(modules_, m));
                const auto hash = fnv1a(std::string(path.rbegin(), path.rend()));
                plain_.push_back({hash, m, std::move(path)});
            }
            std::sort(plain_.begin(), plain_.end());
        }
        return plain_;
    }

    /// Whether the last word is capitalized like a class, or is dynamo's name for the model itself.
    [[nodiscard]] static bool ends_in_class(std::string_view text) {
        const auto word = text.substr(text.rfind('_') + 1);
        return text.ends_with("L_self") || (!word.empty() && is_capital(word[0]));
    }

    const Ops& ops_;
    const Modules& modules_;
    bool any_ = false;
    mutable std::vector<plain> plain_; // sorted; filled on demand
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_FUNCTION_NAMES_HPP
