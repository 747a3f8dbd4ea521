// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_SKETCH_DIGITS_HPP
#define STEMMA_RECORD_DETAIL_SKETCH_DIGITS_HPP

#include <stemma/io/detail/base64.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Appends numbers as base64 digits: five bits each, plus a continuation bit.
class digit_writer {
public:
    explicit digit_writer(std::string& out) : out_(out) {}

    void number(std::uint64_t n) {
        char digits[13];
        std::size_t count = 0;
        for (; n >= 32; n >>= 5U) {
            digits[count++] = base64_digits[32 | (n & 31U)];
        }
        digits[count++] = base64_digits[n];
        out_.append(digits, count);
    }

    template <unsigned Digits>
    void fixed(std::uint32_t n) {
        char digits[Digits];
        for (unsigned i = 0; i < Digits; ++i, n >>= 6U) {
            digits[i] = base64_digits[n & 63U];
        }
        out_.append(digits, Digits);
    }

    /// 1, -1, 2, -2 as 1, 2, 3, 4; 0 as 0.
    [[nodiscard]] static std::uint64_t zigzag(std::int64_t n) noexcept {
        return n > 0 ? 2 * static_cast<std::uint64_t>(n) - 1 : 2 * static_cast<std::uint64_t>(-n);
    }

private:
    std::string& out_;
};

/// Reads the numbers back.
class digit_reader {
public:
    explicit digit_reader(std::string_view text) : text_(text) {}

    [[nodiscard]] bool done() const noexcept { return at_ == text_.size(); }
    [[nodiscard]] bool failed() const noexcept { return failed_; }

    [[nodiscard]] std::uint64_t number() {
        std::uint64_t n = 0;
        for (unsigned shift = 0;; shift += 5) {
            const auto d = digit();
            n |= std::uint64_t{d & 31U} << shift;
            if (d < 32) {
                return n;
            }
            if (shift > 30) { // no valid number is that large
                failed_ = true;
                return 0;
            }
        }
    }

    [[nodiscard]] std::uint32_t fixed(unsigned digits) {
        std::uint32_t n = 0;
        for (unsigned i = 0; i < digits; ++i) {
            n |= digit() << (6 * i);
        }
        return n;
    }

    [[nodiscard]] static std::int64_t unzigzag(std::uint64_t n) noexcept {
        return n % 2 == 1 ? static_cast<std::int64_t>(n / 2 + 1)
                          : -static_cast<std::int64_t>(n / 2);
    }

private:
    static constexpr auto values = [] {
        std::array<std::uint8_t, 256> table{};
        table.fill(64);
        for (std::uint8_t i = 0; i < 64; ++i) {
            table[static_cast<unsigned char>(base64_digits[i])] = i;
        }
        return table;
    }();

    [[nodiscard]] std::uint32_t digit() {
        const auto value = at_ < text_.size() ? values[static_cast<unsigned char>(text_[at_++])]
                                              : std::uint8_t{64};
        failed_ = failed_ || value == 64;
        return failed_ ? 0U : value;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_SKETCH_DIGITS_HPP
