// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_DETAIL_CSV_ROWS_HPP
#define STEMMA_COST_DETAIL_CSV_ROWS_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/io/detail/real_text.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Reads separated values row by row, with quotes; the separator is detected in the first row.
class csv_rows {
public:
    explicit csv_rows(std::string_view text) : rest_(text) {
        if (rest_.starts_with("\xef\xbb\xbf")) {
            rest_.remove_prefix(3);
        }
        const auto line = rest_.substr(0, rest_.find('\n'));
        for (const char mark : {';', '\t'}) {
            separator_ = detail::range::count(line, mark) > detail::range::count(line, separator_)
                             ? mark
                             : separator_;
        }
    }

    /// Reads a row and trims its fields. Returns: whether there was one.
    bool next() {
        fields_.clear();
        while (!rest_.empty() && (rest_.front() == '\n' || rest_.front() == '\r')) {
            line_ += rest_.front() == '\n' ? 1U : 0U;
            rest_.remove_prefix(1);
        }
        if (rest_.empty()) {
            return false;
        }
        fields_.emplace_back();
        bool quoted = false;
        std::size_t at = 0;
        for (; at < rest_.size(); ++at) {
            const char c = rest_[at];
            if (quoted && c == '"' && at + 1 < rest_.size() && rest_[at + 1] == '"') {
                fields_.back().push_back('"');
                ++at;
            } else if (c == '"' && (quoted || fields_.back().empty())) {
                quoted = !quoted;
            } else if (!quoted && c == separator_) {
                fields_.emplace_back();
            } else if (!quoted && c == '\n') {
                break;
            } else {
                fields_.back().push_back(c);
            }
        }
        ++line_;
        rest_.remove_prefix(std::min(rest_.size(), at + 1));
        for (auto& field : fields_) {
            while (!field.empty() && std::isspace(static_cast<unsigned char>(field.back())) != 0) {
                field.pop_back();
            }
            field.erase(0, std::min(field.find_first_not_of(" \t"), field.size()));
        }
        return true;
    }

    /// Returns: the field of a column of the last row; "" if there is none.
    [[nodiscard]] std::string_view operator[](std::optional<std::size_t> column) const {
        return column && *column < fields_.size() ? std::string_view(fields_[*column])
                                                  : std::string_view();
    }

    /// Returns: the column of which the last row has one of these headings, the likeliest first,
    /// if any. A suffix in brackets, usually a unit, is ignored.
    [[nodiscard]] std::optional<std::size_t>
    find_column(std::initializer_list<std::string_view> wanted) const {
        for (const auto name : wanted) {
            for (std::size_t i = 0; i < fields_.size(); ++i) {
                auto heading = to_lower(fields_[i]);
                heading.erase(std::min(heading.find_first_of("(["), heading.size()));
                while (!heading.empty() && heading.back() == ' ') {
                    heading.pop_back();
                }
                if (heading == name) {
                    return i;
                }
            }
        }
        return std::nullopt;
    }

    /// Returns: the number of the last row, from 1.
    [[nodiscard]] std::size_t line() const noexcept { return line_; }

private:
    std::string_view rest_;
    std::vector<std::string> fields_; // of the last row
    char separator_ = ',';
    std::size_t line_ = 0;
};

/// Returns: the microseconds per unit named in a heading or field, if it names one.
[[nodiscard]] inline std::optional<double> microseconds_of(std::string_view text) {
    const auto lower = to_lower(std::string(text));
    const auto names = [&](std::initializer_list<std::string_view> units) {
        return std::any_of(units.begin(), units.end(), [&](std::string_view unit) {
            for (auto at = lower.find(unit); at != lower.npos; at = lower.find(unit, at + 1)) {
                const auto is_letter = [&](std::size_t place) { // also one beyond ASCII, as in "µs"
                    const auto c = place < lower.size() ? lower[place] : ' ';
                    return std::isalpha(static_cast<unsigned char>(c)) != 0 ||
                           static_cast<unsigned char>(c) >= 0x80;
                };
                if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + unit.size())) {
                    return true;
                }
            }
            return false;
        });
    };
    // "µs" with the micro sign, and with the Greek letter.
    return names({"us", "\xc2\xb5s", "\xce\xbcs", "usec", "microsec", "microseconds"})
               ? std::optional(1.0)
           : names({"ms", "msec", "millisec", "milliseconds"}) ? std::optional(1e3)
           : names({"ns", "nsec", "nanosec", "nanoseconds"})   ? std::optional(1e-3)
           : names({"s", "sec", "seconds"})                    ? std::optional(1e6)
                                                               : std::nullopt;
}

/// Returns: the finite number that is the whole field, if any.
[[nodiscard]] inline std::optional<double> read_real(std::string_view text) {
    double value = 0;
    const auto* end = text.data() + text.size();
    const auto read = detail::read_real(text.data(), end, value);
    return read.ec == std::errc() && read.ptr == end && std::isfinite(value) ? std::optional(value)
                                                                             : std::nullopt;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COST_DETAIL_CSV_ROWS_HPP
