// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_PRINTED_PATHS_HPP
#define STEMMA_EVIDENCE_DETAIL_PRINTED_PATHS_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/detail/printed_scope.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Reads the paths of modules in names that begin with that of a function as torch calls it: the
/// class with its package, the path, and the number of the call, with `_` for everything but
/// letters and digits: `app_Block_layers_0_act_1_mul` is `mul` in `layers.0.act`.
///
/// What separates names and lists is lost. It is known from parameters, and from functions of the
/// modules around: a module extends the path of one that calls it by a single name.
class printed_paths {
public:
    /// Adds a name to be read.
    void add(std::string_view name) { paths_.emplace(name, std::nullopt); }

    /// Adds the path of a parameter's owner, and those of the modules around.
    void add_parameter(std::string_view parameter) {
        const auto path = owner_path(parameter);
        for (std::size_t end = 0; end < path.size(); ++end) {
            end = std::min(path.find('.', end), path.size());
            add_path(path.substr(0, end));
        }
    }

    [[nodiscard]] bool empty() const noexcept { return paths_.empty(); }

    /// Reads all names. Complexity: O(names * words of the longest * levels of modules).
    void resolve() {
        std::vector<std::pair<std::string_view, std::vector<call>>> open;
        for (const auto& [name, path] : paths_) {
            if (auto calls = calls_in(name); !calls.empty()) {
                for (const auto& one : calls) {
                    functions_.emplace(one.function);
                    texts_.insert(one.path);
                }
                open.emplace_back(name, std::move(calls));
            }
        }
        std::sort(open.begin(), open.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [name, calls] : open) {
            any_known_ = any_known_ || detail::range::any_of(calls, [&](const call& one) {
                             return dotted_.contains(one.path);
                         });
        }
        // The shortest extensions first: they are modules that call others.
        for (std::size_t words = 0; words <= max_extension;) {
            const auto still = std::remove_if(open.begin(), open.end(), [&](const auto& entry) {
                return read(entry.first, entry.second, words);
            });
            words = still == open.end() ? words + 1 : 0;
            open.erase(still, open.end());
        }
    }

    /// Whether a name holds the path of a parameter's owner or of a module around it.
    [[nodiscard]] bool any_known() const noexcept { return any_known_; }

    /// Returns: the path in an added name; null if it has none.
    [[nodiscard]] const std::string* find(std::string_view name) const {
        const auto entry = paths_.find(name);
        return entry == paths_.end() || !entry->second ? nullptr : &*entry->second;
    }

    /// Returns: the scope of a module with this path as torch's exporter writes it, where lists
    /// have no level: `encoder/layer.0`.
    [[nodiscard]] std::string scope_of(std::string_view path) const { return called_.print(path); }

private:
    static constexpr std::size_t max_extension = 8; // words of an attribute
    static constexpr std::size_t max_words = 64;    // of a name

    /// One way to read a name.
    struct call {
        std::string_view function; ///< up to the number of the call
        std::string path;          ///< words, joined by `_`
    };

    /// Returns: the words of a text, which are views of it.
    [[nodiscard]] static std::vector<std::string_view> words_of(std::string_view text) {
        constexpr std::string_view letters =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        std::vector<std::string_view> words;
        for (auto begin = text.find_first_of(letters); begin != text.npos;) {
            const auto end = std::min(text.find_first_not_of(letters, begin), text.size());
            words.push_back(text.substr(begin, end - begin));
            begin = text.find_first_of(letters, end);
        }
        return words;
    }

    void add_path(std::string_view path) {
        std::string plain;
        for (auto word : words_of(path)) {
            plain.append(plain.empty() ? "" : "_").append(word);
        }
        dotted_.emplace(plain, path);
    }

    /// Returns: all ways to read a name: a path follows a class, which is capitalized, or the name
    /// of the model itself, and ends before a positive number that something follows.
    [[nodiscard]] static std::vector<call> calls_in(std::string_view name) {
        std::vector<call> calls;
        const auto words = words_of(name);
        for (std::size_t first = 2; words.size() <= max_words && first < words.size(); ++first) {
            const auto before = words[first - 1];
            const bool itself = before == "self" && words[first - 2] == "L";
            if (!itself && (before.front() < 'A' || before.front() > 'Z' || before == "L")) {
                continue;
            }
            std::string path(words[first]);
            for (auto k = first + 1; k + 1 < words.size(); ++k) {
                const auto end =
                    static_cast<std::size_t>(words[k].data() - name.data()) + words[k].size();
                // `getattr_L__self___layers___1___2_mul`: three of them separate the parts of a
                // path.
                const bool inner = name.substr(end).starts_with("___") || is_number(words[k + 1]);
                if (is_number(words[k]) && words[k].front() != '0' && name[end] == '_' && !inner) {
                    calls.push_back({name.substr(0, end), path});
                }
                path.append("_").append(words[k]);
            }
        }
        return calls;
    }

    /// Returns: the longest known path that a text begins with, and the length of its text.
    [[nodiscard]] std::pair<std::string_view, std::size_t> known_part(std::string_view text) const {
        for (auto end = text.size(); end != text.npos && end > 0; end = text.rfind('_', end - 1)) {
            if (const auto entry = dotted_.find(std::string(text.substr(0, end)));
                entry != dotted_.end()) {
                return {entry->second, end};
            }
        }
        return {};
    }

    /// Reads a name if that extends a known path by no more than so many words.
    [[nodiscard]] bool read(std::string_view name, const std::vector<call>& calls,
                            std::size_t words) {
        const call* best = nullptr;
        std::size_t longest = 0;
        for (const auto& one : calls) {
            const auto length = known_part(one.path).second;
            const bool better = best == nullptr || length > longest ||
                                (length == longest && one.path.size() < best->path.size());
            if (better && (length == one.path.size() || may_be_call(one))) {
                best = &one;
                longest = length;
            }
        }
        if (best == nullptr ||
            words_of(std::string_view(best->path).substr(longest)).size() > words) {
            return false;
        }
        if (auto path = extended(best->path)) {
            called_.insert(*path);
            dotted_.emplace(best->path, *path);
            paths_.at(name) = std::move(path);
        }
        return true;
    }

    /// Whether a number may be that of a call: there is one before, if it is not the first, and the
    /// path is not that of a list.
    [[nodiscard]] bool may_be_call(const call& one) const {
        const auto mark = one.function.rfind('_') + 1;
        const auto number = one.function.substr(mark);
        const bool counted =
            number == "1" ||
            (number.size() < 4 &&
             functions_.contains(std::string(one.function.substr(0, mark)) +
                                 std::to_string(std::stoi(std::string(number)) - 1)));
        return counted && !is_list(one.path);
    }

    /// Whether there may be members of a list with a text; they are counted from zero.
    [[nodiscard]] bool is_list(std::string_view text) const {
        return texts_.contains(std::string(text) + "_0");
    }

    /// Returns: the path that a text stands for: a known one, extended by a name or a member of a
    /// list; nothing for any other.
    [[nodiscard]] std::optional<std::string> extended(std::string_view text) const {
        const auto [beginning, length] = known_part(text);
        std::string path(beginning);
        auto rest = text.substr(std::min(length == 0 ? 0 : length + 1, text.size()));
        const auto append = [&](std::string_view part) {
            path.append(path.empty() ? "" : ".").append(part);
        };
        const auto mark = rest.find('_');
        if (mark != rest.npos && is_number(rest.substr(0, mark))) {
            append(rest.substr(0, mark));
            rest.remove_prefix(mark + 1);
        }
        const auto last = rest.rfind('_');
        if (last != rest.npos && is_number(rest.substr(last + 1))) {
            if (is_list(text.substr(0, text.rfind('_')))) {
                append(rest.substr(0, last));
                rest.remove_prefix(last + 1);
            }
        }
        const auto words = words_of(rest);
        const auto inner = words.empty() ? words.end() : words.end() - 1;
        if (std::any_of(words.begin(), inner, is_number)) {
            return std::nullopt;
        }
        if (!rest.empty()) {
            append(rest);
        }
        return path;
    }

    std::unordered_map<std::string_view, std::optional<std::string>> paths_; // by name
    std::unordered_map<std::string, std::string> dotted_;                    // by text
    std::unordered_set<std::string> functions_;
    std::unordered_set<std::string> texts_; // that may be paths
    called_lists called_;
    bool any_known_ = false;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_PRINTED_PATHS_HPP
