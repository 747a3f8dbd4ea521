// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_PYTHON_TEXT_HPP
#define STEMMA_EVIDENCE_DETAIL_PYTHON_TEXT_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/ascii.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

inline void append_utf8(std::uint32_t code, std::string& out) {
    const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xc0U | code >> 6U);
        put(0x80U | (code & 0x3fU));
    } else if (code < 0x1'0000) {
        put(0xe0U | code >> 12U);
        put(0x80U | (code >> 6U & 0x3fU));
        put(0x80U | (code & 0x3fU));
    } else {
        put(0xf0U | code >> 18U);
        put(0x80U | (code >> 12U & 0x3fU));
        put(0x80U | (code >> 6U & 0x3fU));
        put(0x80U | (code & 0x3fU));
    }
}

/// Reads a number of `digits` hexadecimal digits at `at`.
[[nodiscard]] inline std::optional<std::uint32_t> read_hex(std::string_view text, std::size_t at,
                                                           std::size_t digits) {
    std::uint32_t value = 0;
    if (text.size() < at + digits) {
        return std::nullopt;
    }
    for (char c : text.substr(at, digits)) {
        const auto digit = c >= '0' && c <= '9'   ? c - '0'
                           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                  : -1;
        if (digit < 0) {
            return std::nullopt;
        }
        value = value << 4U | static_cast<std::uint32_t>(digit);
    }
    return value <= 0x10'ffffU ? std::optional(value) : std::nullopt;
}

/// Reads the `repr` of a Python string at the start of `text`, with either kind of quotes.
///
/// Returns: its length including quotes, 0 if it is none. `value` is the decoded string.
[[nodiscard]] inline std::size_t read_python_string(std::string_view text, std::string& value) {
    value.clear();
    if (text.empty() || (text[0] != '\'' && text[0] != '"')) {
        return 0;
    }
    for (std::size_t i = 1; i < text.size();) {
        const auto stop = text.find_first_of(text[0] == '\'' ? "'\\" : "\"\\", i);
        if (stop == text.npos) {
            return 0;
        }
        value.append(text.substr(i, stop - i));
        if (text[stop] != '\\') {
            return stop + 1;
        }
        if (stop + 1 == text.size()) {
            return 0;
        }
        const char escape = text[stop + 1];
        i = stop + 2;
        const std::size_t digits = escape == 'x' ? 2 : escape == 'u' ? 4 : escape == 'U' ? 8 : 0;
        if (digits != 0) {
            const auto code = read_hex(text, i, digits);
            if (!code) {
                return 0;
            }
            append_utf8(*code, value);
            i += digits;
        } else if (escape == 'n' || escape == 't' || escape == 'r') {
            value.push_back(escape == 'n' ? '\n' : escape == 't' ? '\t' : '\r');
        } else if (escape == '\\' || escape == '\'' || escape == '"') {
            value.push_back(escape);
        } else {
            return 0;
        }
    }
    return 0;
}

/// Reads the `repr` of a Python list of strings: `['', 'blocks.0', "it's"]`.
///
/// Returns: whether all of `text` is one; `items` holds the decoded strings.
/// Complexity: O(length); strings of `items` are reused.
[[nodiscard]] inline bool read_python_list(std::string_view text, std::vector<std::string>& items) {
    std::size_t count = 0;
    const auto skip_blanks = [&] {
        while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) {
            text.remove_prefix(1);
        }
    };
    const auto finish = [&](bool valid) {
        items.resize(valid ? count : 0);
        return valid;
    };
    if (!text.starts_with('[')) {
        return finish(false);
    }
    text.remove_prefix(1);
    skip_blanks();
    while (!text.starts_with(']')) {
        if (items.size() == count) {
            items.emplace_back();
        }
        const auto read = read_python_string(text, items[count]);
        if (read == 0) {
            return finish(false);
        }
        ++count;
        text.remove_prefix(read);
        skip_blanks();
        if (text.starts_with(',')) {
            text.remove_prefix(1);
            skip_blanks();
        } else if (!text.starts_with(']')) {
            return finish(false);
        }
    }
    return finish(text.size() == 1);
}

/// A `slice(2, None, None)` at the start of a text.
struct python_slice {
    std::size_t length = 0; ///< of the text; 0 if there is none, or it does not just skip a start
    std::size_t start = 0;  ///< the first member
};

/// Complexity: O(length).
[[nodiscard]] inline python_slice read_slice(std::string_view text) {
    constexpr std::string_view open = "slice(";
    constexpr std::string_view separator = ", ";
    const auto end = std::min(text.find(')'), text.size());
    if (!text.starts_with(open) || end == text.size()) {
        return {};
    }
    const auto inside = text.substr(open.size(), end - open.size());
    const auto first = std::min(inside.find(separator), inside.size());
    const auto last = inside.rfind(separator);
    const auto start = inside.substr(0, first);
    const auto step = inside.substr(std::min(last, inside.size()));
    if (first >= last || start.size() > 9 || (start != "None" && !is_number(start)) ||
        (step != ", None" && step != ", 1")) {
        return {};
    }
    return {end + 1, start == "None" ? 0 : std::stoul(std::string(start))};
}

/// Converts a Python expression for a module to its path: `L['self'].layers[0].fc` and
/// `getattr(getattr(L['self'].layers, '0'), 'fc')` to `layers.0.fc`, as is
/// `L['self'].layers[slice(None, 2, None)]._modules['0'].fc`. A text that is not such an expression
/// is taken for a path.
///
/// Returns: nothing for a malformed expression.
// One loop over the tokens, whose state has no parts. NOLINTNEXTLINE(readability-function-size)
[[nodiscard]] inline std::optional<std::string> module_path_of(std::string_view text) {
    if (text.find_first_of("[(") == text.npos) {
        return std::string(text);
    }
    constexpr std::string_view call = "getattr(";
    std::size_t open = 0;
    for (; text.starts_with(call); text.remove_prefix(call.size())) {
        ++open;
    }
    std::string path;
    std::string name;
    std::size_t skipped = 0; // members, by slices
    const auto descend = [&](std::string_view part) {
        if (part == "_modules") {
            return;
        }
        path.append(path.empty() ? "" : ".");
        if (skipped > 0 && part.size() < 10 && is_number(part)) {
            path.append(std::to_string(std::stoul(std::string(part)) + skipped));
        } else {
            path.append(part);
        }
        skipped = 0;
    };
    // The base: a local variable, which holds the exported module, whatever its name.
    if (text.starts_with("L[")) {
        const auto read = read_python_string(text.substr(2), name);
        if (read == 0 || !text.substr(2 + read).starts_with(']')) {
            return std::nullopt;
        }
        text.remove_prefix(3 + read);
    } else {
        const auto end = std::min(text.find_first_of(".[,)"), text.size());
        if (text.substr(0, end) != "self") {
            descend(text.substr(0, end));
        }
        text.remove_prefix(end);
    }
    while (!text.empty()) {
        if (const bool subscript = text.front() == '['; subscript || text.front() == '.') {
            text.remove_prefix(1);
            if (text.starts_with("slice(")) {
                const auto slice = read_slice(text);
                if (slice.length == 0) {
                    return std::nullopt;
                }
                skipped += slice.start;
                text.remove_prefix(slice.length);
            } else if (subscript) {
                auto read = read_python_string(text, name);
                if (read == 0) {
                    read = std::min(text.find(']'), text.size());
                    name = text.substr(0, read);
                }
                if (name.empty()) {
                    return std::nullopt;
                }
                descend(name);
                text.remove_prefix(read);
            } else {
                const auto end = std::min(text.find_first_of(".[,)"), text.size());
                descend(text.substr(0, end));
                text.remove_prefix(end);
            }
            if (subscript && !text.starts_with(']')) {
                return std::nullopt;
            }
            text.remove_prefix(subscript ? 1 : 0);
        } else if (text.front() == ',' && open > 0) {
            text.remove_prefix(1);
            while (text.starts_with(' ')) {
                text.remove_prefix(1);
            }
            const auto read = read_python_string(text, name);
            if (read == 0 || !text.substr(read).starts_with(')')) {
                return std::nullopt;
            }
            descend(name);
            text.remove_prefix(read + 1);
            --open;
        } else {
            return std::nullopt;
        }
    }
    return open == 0 ? std::optional(path) : std::nullopt;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_PYTHON_TEXT_HPP
