// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_RECORDED_SOURCES_HPP
#define STEMMA_RECORD_DETAIL_RECORDED_SOURCES_HPP

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/detail/stack_formats.hpp>
#include <stemma/evidence/user_frames.hpp>
#include <stemma/io/detail/json_part.hpp>
#include <stemma/io/detail/json_stream.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/source_lines.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Source lines as stored in a file (`stemma.sources/1`, see docs/formats.md).
struct recorded_sources {
    source_lines lines;     ///< of the modules
    std::vector<id> chains; ///< by number in the record
    std::vector<std::pair<std::uint64_t, id>>
        runs; ///< of nodes at the time of writing: the end of each, and its chain or `no_id`

    /// Returns: the chain of a node, `no_id` if unknown. Complexity: O(log runs).
    [[nodiscard]] id chain_of(id node) const {
        const auto run =
            std::upper_bound(runs.begin(), runs.end(), node,
                             [](id wanted, const auto& one) { return wanted < one.first; });
        return run == runs.end() ? no_id : run->second;
    }
};

/// Copies chains into other lines, each once. If a `policy` was chosen, it decides anew whose they
/// are.
class chain_copier {
public:
    /// Requires: all outlive this.
    chain_copier(const source_lines& from, source_lines& to,
                 const any_policy<frames_category>& policy)
        : from_(from), to_(to), policy_(policy) {}

    /// Returns: the number of the copied frame. Complexity: O(length of its texts), once.
    [[nodiscard]] id frame(id number) {
        frames_.resize(from_.frames().size(), no_id);
        auto& copied = frames_[number];
        if (copied == no_id) {
            const auto& one = from_.frames()[number];
            const source_position at{from_.path(one.file), one.line, from_.function(one.function)};
            copied = to_.add_frame(at, policy_.is_chosen() ? policy_.kind(at) : one.kind, one.text);
        }
        return copied;
    }

    /// Returns: the number of the copied chain. Complexity: O(its frames), once each.
    [[nodiscard]] id chain(id number) {
        chains_.resize(from_.chain_count(), no_id);
        std::vector<id> open; // from the inside out
        for (; number != no_id && chains_[number] == no_id; number = from_.link(number).first) {
            open.push_back(number);
        }
        id copied = number == no_id ? no_id : chains_[number];
        for (; !open.empty(); open.pop_back()) {
            copied = to_.add_link(copied, frame(from_.link(open.back()).second));
            chains_[open.back()] = copied;
        }
        return copied;
    }

private:
    const source_lines& from_;
    source_lines& to_;
    const any_policy<frames_category>& policy_;
    std::vector<id> frames_;
    std::vector<id> chains_;
};

/// Returns: lines as stored in a file, for that many nodes and modules; with `full_paths`,
/// including the exporter's paths. Complexity: O(length).
[[nodiscard]] inline std::string to_json(const source_lines& lines, id nodes, id modules,
                                         bool full_paths) {
    return json_line([&](auto& json) {
        const auto or_null = [&](id number) { number == no_id ? json.null() : json.value(number); };
        json.member("schema", "stemma.sources/1");
        json.flat_list("files", [&] {
            for (id file = 0; file < lines.file_count(); ++file) {
                json.value(full_paths ? lines.path(file) : lines.file_name(file));
            }
        });
        json.flat_list("functions", [&] {
            for (id function = 0; function < lines.function_count(); ++function) {
                json.value(lines.function(function));
            }
        });
        json.flat_list("frames", [&] {
            for (const auto& one : lines.frames()) {
                json.row(one.file, one.line, one.function, static_cast<std::uint32_t>(one.kind),
                         one.text);
            }
        });
        json.flat_list("chains", [&] {
            for (id chain = 0; chain < lines.chain_count(); ++chain) {
                const auto [callers, at] = lines.link(chain);
                json.begin_array(true);
                or_null(callers);
                json.value(at);
                json.end_array();
            }
        });
        json.flat_list("nodes", [&] {
            for (id node = 0; node < nodes;) {
                const auto chain = lines.chain_of(node);
                const auto first = node;
                while (node < nodes && lines.chain_of(node) == chain) {
                    ++node;
                }
                json.begin_array(true);
                json.value(node - first);
                or_null(chain);
                json.end_array();
            }
        });
        json.flat_list("modules", [&] {
            for (id module = 0; module < modules; ++module) {
                if (const auto at = lines.frame_of_module(module); at != no_id) {
                    json.row(module, at);
                }
            }
        });
    });
}

/// Reads the output of `to_json` for lines.
class source_record_reader final : public json_handler {
public:
    /// Requires: the policy outlives this.
    source_record_reader(const any_policy<frames_category>& policy, std::size_t modules)
        : policy_(policy), modules_(modules) {}

    void element(const std::string& path, json_part part) override {
        if (path == "files" || path == "functions") {
            (path == "files" ? files_ : functions_).emplace_back(part.text());
        } else if (path == "frames") {
            read_frame(part);
        } else if (path == "chains") {
            const auto callers = part[0].is_null() ? no_id : chains().at(number(part[0]));
            chains().push_back(result_.lines.add_link(callers, frames_.at(number(part[1]))));
        } else if (path == "nodes") {
            const auto before = result_.runs.empty() ? 0 : result_.runs.back().first;
            result_.runs.emplace_back(before + number(part[0]),
                                      part[1].is_null() ? no_id : chains().at(number(part[1])));
        } else if (path == "modules") {
            const auto module = number(part[0]);
            const auto at = frames_.at(number(part[1]));
            if (module < modules_) {
                result_.lines.set_module(module, at);
            }
        }
    }

    void scalar(const std::string& path, json_part part) override {
        if (path == "schema" && !(part == "stemma.sources/1")) {
            throw std::invalid_argument("schema");
        }
    }

    [[nodiscard]] recorded_sources finish() { return std::move(result_); }

private:
    [[nodiscard]] std::vector<id>& chains() { return result_.chains; }

    [[nodiscard]] static id number(json_part part) {
        const auto read = part.number<std::uint64_t>();
        if (read >= no_id) {
            throw std::out_of_range("number");
        }
        return static_cast<id>(read);
    }

    void read_frame(json_part part) {
        const auto& file = files_.at(number(part[0]));
        const auto& function = functions_.at(number(part[2]));
        const auto kind = number(part[3]);
        const auto text = part[4].number<std::uint64_t>();
        if (!is_plain_name(file) || !(function.empty() || is_plain_name(function)) ||
            kind > static_cast<id>(frame_kind::library) || text > 0xffff'ffffU) {
            throw std::invalid_argument("frame");
        }
        const source_position at{file, number(part[1]), function};
        frames_.push_back(result_.lines.add_frame(
            at, policy_.is_chosen() ? policy_.kind(at) : static_cast<frame_kind>(kind),
            static_cast<std::uint32_t>(text)));
    }

    const any_policy<frames_category>& policy_;
    std::size_t modules_;
    std::vector<std::string> files_;
    std::vector<std::string> functions_;
    std::vector<id> frames_; // by number in the record
    recorded_sources result_;
};

/// Returns: what `to_json` for lines wrote, nothing for other texts.
/// Complexity: O(length).
[[nodiscard]] inline std::optional<recorded_sources>
read_sources(std::string_view text, const any_policy<frames_category>& policy,
             std::size_t modules) {
    source_record_reader reader(policy, modules);
    try {
        stream_json(text, "", reader);
    } catch (const std::out_of_range&) {
        return std::nullopt;
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    } catch (const error& problem) {
        if (problem.code() != error_code::malformed) {
            throw;
        }
        return std::nullopt;
    }
    return reader.finish();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_RECORDED_SOURCES_HPP
