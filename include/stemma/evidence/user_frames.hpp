// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_USER_FRAMES_HPP
#define STEMMA_EVIDENCE_USER_FRAMES_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/held_policy.hpp>
#include <stemma/model/source_lines.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

template <class P>
concept has_frame_kind = requires(const P& p, const source_position& at) {
    { p.kind(at) } -> std::same_as<frame_kind>;
};

/// Whether a path contains the folders `wanted` (`torch/nn`) consecutively.
[[nodiscard]] inline bool has_folders(std::string_view path, std::string_view wanted) noexcept {
    for (auto at = path.find(wanted); at != path.npos && !wanted.empty();
         at = path.find(wanted, at + 1)) {
        const auto end = at + wanted.size();
        if ((at == 0 || path[at - 1] == '/') && (end == path.size() || path[end] == '/')) {
            return true;
        }
    }
    return false;
}

/// Returns: the start of the part of a path that names an installed package: after the last
/// `site-packages` or `dist-packages`; `npos` if there is none.
[[nodiscard]] inline std::size_t installed_part(std::string_view path) noexcept {
    constexpr std::string_view folders[]{"/site-packages/", "/dist-packages/"};
    auto result = path.npos;
    for (const auto folder : folders) {
        if (const auto at = path.rfind(folder); at != path.npos) {
            result =
                result == path.npos ? at + folder.size() : std::max(result, at + folder.size());
        }
    }
    return result;
}

/// Returns: the start of the part of a path that names a module of Python itself, or `npos`: after
/// `lib/python3.11/`, on Windows after `Python311/Lib/`.
[[nodiscard]] inline std::size_t standard_part(std::string_view path) noexcept {
    const auto behind = [&](std::string_view folder) -> std::size_t {
        const auto at = path.rfind(folder);
        const auto slash = at == path.npos ? at : path.find('/', at + folder.size());
        const auto version = slash == path.npos
                                 ? std::string_view()
                                 : path.substr(at + folder.size(), slash - at - folder.size());
        const bool numbered = !version.empty() && detail::is_digit(version.front());
        return numbered ? slash + 1 : path.npos;
    };
    if (const auto unix_like = behind("/lib/python"); unix_like != path.npos) {
        return unix_like;
    }
    const auto windows = behind("/Python");
    return windows != path.npos && path.substr(windows).starts_with("Lib/") ? windows + 4
                                                                            : path.npos;
}

/// Returns: a path with `\` replaced by `/`. Complexity: O(length).
[[nodiscard]] inline std::string with_slashes(std::string_view path) {
    std::string text(path);
    std::replace(text.begin(), text.end(), '\\', '/');
    return text;
}

} // namespace detail

/// Decides whose code the frames of call stacks are. Of a stack, a user sees the innermost frame
/// that is `own`; if there is none, the innermost `package` one, else the innermost one.
///
/// `kind(at)`: the author of line `at`, whose file is a full path as the exporter wrote it.
///
/// Requires: the same answer for the same file and function.
/// Complexity: callers ask once per frame.
template <class P>
concept frames_policy = detail::policy_for<P, frames_category> && detail::has_frame_kind<P>;

/// All files are the user's, except those of installed packages, of PyTorch, of model packages, of
/// Python, and generated code.
struct not_in_packages {
    using policy_category = frames_category;

    /// Further packages, as folders in a path: `mylib/models`.
    std::vector<std::string> packages{};
    /// Folders that are the user's even where installed: `transformers`.
    std::vector<std::string> own{};

    [[nodiscard]] frame_kind kind(const source_position& at) const {
        const auto path = detail::with_slashes(at.file);
        const auto in = [&](const auto& folders) {
            return std::any_of(std::begin(folders), std::end(folders), [&](std::string_view one) {
                return detail::has_folders(path, one);
            });
        };
        if (in(own)) {
            return frame_kind::own;
        }
        if (path.empty() || path.front() == '<') {
            return path.starts_with("<ipython-input") || path == "<stdin>" ? frame_kind::own
                                                                           : frame_kind::library;
        }
        const auto installed = detail::installed_part(path);
        const auto package = std::string_view(path).substr(installed == path.npos ? 0 : installed);
        const auto is_first = [&](std::string_view name) {
            return package.starts_with(name) &&
                   (package.size() == name.size() || package[name.size()] == '/');
        };
        const bool of_torch =
            in(torch_folders) ||
            (installed != path.npos && std::any_of(libraries.begin(), libraries.end(), is_first));
        if (of_torch || (installed == path.npos && detail::standard_part(path) != path.npos)) {
            return frame_kind::library;
        }
        return installed != path.npos || in(model_folders) || in(packages) ? frame_kind::package
                                                                           : frame_kind::own;
    }

private:
    // Two folders each, as users call their own ones `torch` or `transformers` too.
    static constexpr std::array<std::string_view, 16> torch_folders{"torch/nn",
                                                                    "torch/_dynamo",
                                                                    "torch/_export",
                                                                    "torch/export",
                                                                    "torch/fx",
                                                                    "torch/_functorch",
                                                                    "torch/jit",
                                                                    "torch/_higher_order_ops",
                                                                    "torch/onnx",
                                                                    "torch/_inductor",
                                                                    "torch/_ops.py",
                                                                    "torch/_library",
                                                                    "torch/_jit_internal.py",
                                                                    "torch/utils",
                                                                    "torch/functional.py",
                                                                    "torch/autograd"};
    static constexpr std::array<std::string_view, 10> model_folders{
        "transformers/models",
        "transformers/modeling_utils.py",
        "transformers/integrations",
        "transformers/utils",
        "torchvision/models",
        "torchvision/ops",
        "torchaudio/models",
        "diffusers/models",
        "timm/models",
        "timm/layers"};
    static constexpr std::array<std::string_view, 4> libraries{"torch", "functorch", "onnxscript",
                                                               "torch_xla"};
};

/// Only files below certain folders are the user's; the rest is classified by `not_in_packages`,
/// never as the user's.
struct in_folders {
    using policy_category = frames_category;

    std::vector<std::string> folders{}; ///< as in a path: `my_project/models`

    [[nodiscard]] frame_kind kind(const source_position& at) const {
        const auto kind = not_in_packages{.packages = {}, .own = folders}.kind(at);
        const auto path = detail::with_slashes(at.file);
        const bool inside = std::any_of(folders.begin(), folders.end(), [&](const auto& folder) {
            return detail::has_folders(path, folder);
        });
        return kind == frame_kind::own && !inside ? frame_kind::package : kind;
    }
};

/// Shows the innermost frame, even in PyTorch.
struct innermost_frame {
    using policy_category = frames_category;

    [[nodiscard]] constexpr frame_kind kind(const source_position&) const noexcept {
        return frame_kind::own;
    }
};

/// Put `static_assert(explain_policy<frames_category, mine>());` next to a policy that is rejected.
template <std::same_as<frames_category> Role, class P>
consteval bool explain_policy() {
    static_assert(std::copy_constructible<P>, "frames policy: make the class copyable");
    static_assert(detail::declares<P, frames_category>,
                  "frames policy: add `using policy_category = stemma::frames_category;`");
    static_assert(detail::has_frame_kind<P>,
                  "frames policy: add `stemma::frame_kind kind(const stemma::source_position&) "
                  "const`");
    return frames_policy<P>;
}

/// Holds any policy, or a function as its `kind`; without one it acts as `not_in_packages`.
template <>
class any_policy<frames_category> {
public:
    using policy_category = frames_category;

    any_policy() = default;

    /// Holds a copy of `chosen`.
    template <class P>
        requires(detail::other_than<P, any_policy>&& frames_policy<P>)
    any_policy(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : kind_([chosen = std::move(chosen)](const source_position& at) -> frame_kind {
            return chosen.kind(at);
        }) {}

    /// Rejects other policies, with an explanation.
    template <detail::attempted_policy<any_policy> P>
        requires(!frames_policy<P>)
    any_policy(const P& /*rejected*/) { // NOLINT(google-explicit-constructor): as above
        static_assert(explain_policy<frames_category, P>());
    }

    /// Uses `kind(at)`.
    template <detail::held_function<any_policy, frame_kind, const source_position&> F>
    any_policy(F kind) // NOLINT(google-explicit-constructor): as above
        : kind_(std::move(kind)) {}

    /// Whether one was chosen.
    [[nodiscard]] bool is_chosen() const noexcept { return static_cast<bool>(kind_); }

    [[nodiscard]] frame_kind kind(const source_position& at) const {
        return kind_ ? kind_(at) : not_in_packages{}.kind(at);
    }

private:
    std::function<frame_kind(const source_position&)> kind_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_USER_FRAMES_HPP
