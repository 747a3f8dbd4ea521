// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_FILE_SHORTENER_HPP
#define STEMMA_EVIDENCE_DETAIL_FILE_SHORTENER_HPP

#include <stemma/config.hpp>
#include <stemma/evidence/user_frames.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Shortens an exporter's file paths to the part that identifies modules: after `site-packages`;
/// the file of a class, from its package on, and files next to that package; else the file name,
/// with as many folders as needed to be unique.
class file_shortener {
public:
    /// Complexity: O(length of all classes * their parts).
    explicit file_shortener(std::span<const std::string> qualified_classes) {
        for (const auto& text : qualified_classes) {
            std::string path = text;
            std::replace(path.begin(), path.end(), '.', '/');
            for (auto dot = path.rfind('/'); dot != path.npos && dot > 0;
                 dot = path.rfind('/', dot - 1)) {
                path.resize(dot); // a class may be nested in a class
                if (!modules_.insert(path + ".py").second) {
                    break;
                }
                modules_.insert(path + "/__init__.py");
            }
        }
    }

    /// Returns: the shortened paths, in order. Complexity: O(length * parts of a path).
    [[nodiscard]] std::vector<std::string> shorten(std::span<const std::string> given) {
        std::vector<std::string> paths;
        std::vector<std::size_t> starts; // of the shortened path
        for (const auto& path : given) {
            paths.push_back(with_slashes(path));
            starts.push_back(start_of(paths.back()));
        }
        std::vector<bool> open(paths.size(), false); // start unknown
        for (std::size_t i = 0; i < paths.size(); ++i) {
            starts[i] = starts[i] == std::string::npos ? behind_root(paths[i]) : starts[i];
            open[i] = starts[i] == std::string::npos;
            starts[i] = open[i] ? paths[i].rfind('/') + 1 : starts[i];
        }
        for (std::size_t round = 0; round < most_folders; ++round) {
            if (!tell_apart(paths, open, starts)) {
                break;
            }
        }
        for (std::size_t i = 0; i < paths.size(); ++i) {
            paths[i].erase(0, starts[i]);
        }
        return paths;
    }

private:
    static constexpr std::size_t most_folders = 8;

    /// Returns: the start of the part that names a module, `npos` if unknown.
    [[nodiscard]] std::size_t start_of(const std::string& path) {
        const bool absolute = path.starts_with('/') || path.find(":/") == 1;
        if (!absolute) {
            return 0; // already short, or not a file
        }
        for (const auto start : {installed_part(path), standard_part(path)}) {
            if (start != std::string::npos) {
                return start;
            }
        }
        for (std::size_t start = 0; start != std::string::npos;) {
            if (modules_.contains(path.substr(start))) {
                if (start > 0) {
                    roots_.insert(path.substr(0, start));
                }
                return start;
            }
            const auto slash = path.find('/', start);
            start = slash == path.npos ? slash : slash + 1;
        }
        return std::string::npos;
    }

    /// Returns: the position after the deepest folder that contains packages.
    [[nodiscard]] std::size_t behind_root(const std::string& path) const {
        for (auto slash = path.rfind('/'); slash != path.npos && !roots_.empty();
             slash = slash == 0 ? path.npos : path.rfind('/', slash - 1)) {
            if (roots_.contains(path.substr(0, slash + 1))) {
                return slash + 1;
            }
        }
        return std::string::npos;
    }

    /// Adds one more folder to files with equal names. Returns: whether any are still equal.
    static bool tell_apart(const std::vector<std::string>& paths, const std::vector<bool>& open,
                           std::vector<std::size_t>& starts) {
        std::unordered_map<std::string_view, std::size_t> count;
        const auto name = [&](std::size_t i) {
            return std::string_view(paths[i]).substr(starts[i]);
        };
        for (std::size_t i = 0; i < paths.size(); ++i) {
            count[name(i)] += paths[i].size() == name(i).size() ? 0U : 1U;
        }
        bool again = false;
        std::vector<std::size_t> changed;
        for (std::size_t i = 0; i < paths.size(); ++i) {
            if (open[i] && count[name(i)] > 1 && starts[i] > 1) {
                changed.push_back(i);
            }
        }
        for (const auto i : changed) {
            starts[i] = paths[i].rfind('/', starts[i] - 2) + 1;
            again = true;
        }
        return again;
    }

    std::unordered_set<std::string> modules_; // `app/net.py`
    std::unordered_set<std::string> roots_;   // `/srv/me/project/`
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_FILE_SHORTENER_HPP
