// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_STACK_FORMATS_HPP
#define STEMMA_EVIDENCE_DETAIL_STACK_FORMATS_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/io/json_text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A frame parsed from a text, with views of it.
struct told_frame {
    std::string_view file;
    std::uint32_t line = 0;
    std::string_view function; ///< "" if not given
    std::string_view text;     ///< the source line, "" if not given
};

/// Removes the next line from a text. Returns: the line without its terminator.
[[nodiscard]] inline std::string_view take_line(std::string_view& text) noexcept {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

/// Reads and removes a line number at the start of a text; 0 if there is none.
[[nodiscard]] inline std::uint32_t take_line_number(std::string_view& text) noexcept {
    std::uint32_t line = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), line);
    if (read.ec != std::errc() || line > 0x7fff'ffffU) {
        return 0;
    }
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return line;
}

/// Whether a text may be the name of a file or function: UTF-8 without control characters, which
/// could affect a terminal.
[[nodiscard]] inline bool is_plain_name(std::string_view text) noexcept {
    constexpr std::size_t longest = 4096;
    const auto is_control = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
    };
    return !text.empty() && text.size() <= longest && is_utf8(text) &&
           std::none_of(text.begin(), text.end(), is_control);
}

/// Reads `File "net.py", line 12, in forward`, where `in` is optional. Returns: whether it matches.
[[nodiscard]] inline bool read_file_line(std::string_view line, told_frame& frame) noexcept {
    constexpr std::string_view begin = "File \"";
    constexpr std::string_view middle = "\", line ";
    const auto indent = std::min(line.find_first_not_of(' '), line.size());
    if (indent > 2 || !line.substr(indent).starts_with(begin)) {
        return false; // source lines are indented further
    }
    line.remove_prefix(indent + begin.size());
    const auto at = line.rfind(middle);
    if (at == line.npos) {
        return false;
    }
    frame = {line.substr(0, at), 0, {}, {}};
    line.remove_prefix(at + middle.size());
    frame.line = take_line_number(line);
    if (line.starts_with(", in ")) {
        frame.function = line.substr(5);
        line = {};
    }
    return frame.line != 0 && line.empty();
}

/// Python's traceback, as stored by torch.export: innermost frame last, each followed by one or
/// more source lines.
inline bool read_traceback(std::string_view text, std::vector<told_frame>& frames) {
    told_frame frame;
    while (!text.empty()) {
        const auto line = take_line(text);
        if (read_file_line(line, frame)) {
            if (frame.function.empty()) {
                return false; // of TorchScript
            }
            frames.push_back(frame);
        } else if (!frames.empty() && frames.back().text.empty()) {
            frames.back().text = line;
        }
    }
    std::reverse(frames.begin(), frames.end());
    return !frames.empty();
}

/// A location in a TorchScript program: a few lines with the relevant one underlined. Locations in
/// code generated while saving an archive follow `Serialized`.
inline bool read_highlight(std::string_view text, std::vector<told_frame>& frames) {
    told_frame frame;
    std::string_view before;
    bool serialized = false;
    bool done = false;
    while (!text.empty()) {
        auto line = take_line(text);
        const bool skips = line.starts_with("Serialized ");
        if (skips) {
            line.remove_prefix(std::string_view("Serialized ").size());
        }
        if (read_file_line(line, frame) && frame.function.empty()) {
            serialized = skips;
            done = false;
            if (!serialized) {
                frames.push_back(frame);
            }
        } else if (line.find("~ <--- HERE") != line.npos && !serialized && !done &&
                   !frames.empty()) {
            frames.back().text = before;
            done = true;
        }
        before = line;
    }
    return !frames.empty();
}

/// Python's stack while a model was traced: `net.py(12): forward`, innermost frame first.
inline bool read_calls(std::string_view text, std::vector<told_frame>& frames) {
    while (!text.empty()) {
        auto line = take_line(text);
        const auto close = line.find("): ");
        const auto open = close == line.npos ? close : line.rfind('(', close);
        if (open == line.npos || open == 0) {
            break; // appended by other tools
        }
        told_frame frame{line.substr(0, open), 0, line.substr(close + 3), {}};
        auto number = line.substr(open + 1, close - open - 1);
        frame.line = take_line_number(number);
        if (frame.line == 0 || !number.empty()) {
            break;
        }
        frames.push_back(frame);
    }
    return !frames.empty();
}

/// A single location: `net.py:12:4`, possibly after `# `, as TorchScript's graphs print it.
inline bool read_place(std::string_view text, std::vector<told_frame>& frames) {
    auto line = take_line(text);
    if (line.starts_with("# ")) {
        line.remove_prefix(2);
    }
    const auto take_last = [&]() -> std::uint32_t {
        const auto colon = line.rfind(':');
        auto number = line.substr(colon == line.npos ? line.size() : colon + 1);
        const bool digits = is_number(number);
        line = line.substr(0, digits ? colon : 0);
        return digits ? take_line_number(number) : 0;
    };
    static_cast<void>(take_last()); // the column, which may be 0
    const auto number = take_last();
    if (number == 0 || !line.ends_with(".py")) {
        return false;
    }
    frames.push_back({line, number, {}, {}});
    return true;
}

/// A notation for where an operator comes from.
struct stack_format {
    std::string_view name;
    bool (*read)(std::string_view text, std::vector<told_frame>& frames);
};

/// All supported formats, in the order in which they are tried.
inline constexpr std::array<stack_format, 4> stack_formats{{{"traceback", read_traceback},
                                                            {"highlight", read_highlight},
                                                            {"calls", read_calls},
                                                            {"place", read_place}}};

/// Whether a frame belongs to code that traces or exports a model: its callers are not part of the
/// model.
[[nodiscard]] inline bool runs_models(std::string_view file) noexcept {
    constexpr std::string_view runners[]{"torch/jit/_trace.py", "torch/onnx/utils.py",
                                         "torch/onnx/_internal/", "torch/export/",
                                         "torch/_export/"};
    return std::any_of(std::begin(runners), std::end(runners), [&](std::string_view one) {
        const auto at = file.find(one);
        return at != file.npos && (at == 0 || file[at - 1] == '/' || file[at - 1] == '\\');
    });
}

/// Reads an exporter's statement of where an operator comes from, in any format: the frames of the
/// run, innermost first, up to the first one with an invalid name.
///
/// Returns: the format, nullptr if unknown. Complexity: O(length).
inline const stack_format* read_stack(std::string_view text, std::vector<told_frame>& frames) {
    constexpr std::size_t longest = std::size_t{1} << 20U;
    constexpr std::size_t deepest = 2048;
    for (const auto& format : stack_formats) {
        frames.clear();
        if (text.size() > longest || !format.read(text, frames)) {
            continue;
        }
        const auto end = std::find_if(frames.begin(), frames.end(), [](const told_frame& one) {
            return !is_plain_name(one.file) ||
                   !(one.function.empty() || is_plain_name(one.function));
        });
        if (end != frames.end()) {
            frames.clear();
            return nullptr;
        }
        // The frames outside the exporter's are not the model's; nor need there be any inside.
        const auto runner = std::find_if(frames.begin(), frames.end(), [](const told_frame& one) {
            return runs_models(one.file);
        });
        if (runner != frames.begin()) {
            frames.erase(runner, frames.end());
        } else {
            frames.resize(1);
        }
        frames.resize(std::min(frames.size(), deepest));
        return &format;
    }
    frames.clear();
    return nullptr;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_STACK_FORMATS_HPP
