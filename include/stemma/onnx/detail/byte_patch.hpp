// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_BYTE_PATCH_HPP
#define STEMMA_ONNX_DETAIL_BYTE_PATCH_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/wire_text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// How to make one sequence of bytes from another one. Repeated insertions are stored once.
class byte_patch {
public:
    /// Skips bytes that stay.
    void keep(std::uint64_t size) {
        if (size == 0) {
            return;
        }
        if (changes_.empty() || changes_.back().drop > 0 || changes_.back().text != 0) {
            changes_.emplace_back();
        }
        changes_.back().keep += size;
    }

    /// Replaces the next `size` bytes by `text`. Calls without a `keep` between them are merged.
    void replace(std::uint64_t size, std::string_view text) {
        if (size == 0 && text.empty()) {
            return;
        }
        if (changes_.empty()) {
            changes_.emplace_back();
        }
        auto& last = changes_.back();
        last.drop += size;
        if (!text.empty()) {
            const auto whole = std::string(last.text == 0 ? "" : texts_[last.text - 1]);
            last.text = texts_.intern(whole + std::string(text)) + 1;
        }
    }

    /// Notes what the patch leads to, so that `apply` rejects other input of the same size.
    /// Complexity: O(changes).
    void note_result(std::string_view result) {
        message_tree tree;
        tree.add_range(0, result.size());
        edges_ = edges_of(tree, result);
    }

    /// Returns: the changed bytes of a message over `file`; nothing if its size, or a byte next to
    /// a change, is not the expected one, or texts are repeated more often than in any model.
    /// Complexity: O(pieces and changes).
    [[nodiscard]] std::optional<message_tree> apply(const message_tree& from,
                                                    std::string_view file) const {
        message_tree result;
        std::size_t next = 0;
        auto current = changes_.empty() ? change{} : changes_.front();
        bool fits = true;
        auto room = room_for_texts(from);
        const auto settle = [&] { // texts come after what they replace
            while (fits && next < changes_.size() && current.keep == 0 && current.drop == 0) {
                const auto text = current.text == 0 ? std::string_view() : texts_[current.text - 1];
                fits = text.size() <= room;
                room -= fits ? text.size() : 0;
                result.add_text(fits ? text : std::string_view());
                ++next;
                current = next < changes_.size() ? changes_[next] : change{};
            }
        };
        settle();
        const auto consume = [&](std::uint64_t size, auto put) {
            for (std::uint64_t at = 0; fits && at < size;) {
                fits = next < changes_.size();
                auto& count = current.keep > 0 ? current.keep : current.drop;
                const auto part = std::min(count, size - at);
                if (&count == &current.keep) {
                    put(at, part);
                }
                count -= part;
                at += part;
                settle();
            }
        };
        from.for_each(
            [&](id number, std::uint64_t begin, std::uint64_t size) {
                consume(size, [&](std::uint64_t at, std::uint64_t part) {
                    result.add_range(begin + at, part, number);
                });
            },
            [&](std::string_view text) {
                consume(text.size(), [&](std::uint64_t at, std::uint64_t part) {
                    result.add_text(text.substr(at, part));
                });
            });
        fits = fits && next == changes_.size() && (!edges_ || edges_of(result, file) == *edges_);
        return fits ? std::optional(std::move(result)) : std::nullopt;
    }

    /// Returns: the patch as bytes: the number of texts, each with its length; then for every
    /// change how many bytes stay, how many go, and which text replaces them (from 1; 0 for none);
    /// if the result was noted, three zeros and its hash. Complexity: O(bytes).
    [[nodiscard]] std::string to_bytes() const {
        std::string bytes;
        detail::append_varint(texts_.size(), bytes);
        for (id i = 0; i < texts_.size(); ++i) {
            const auto text = texts_[i];
            detail::append_varint(text.size(), bytes);
            bytes.append(text);
        }
        for (const auto& c : changes_) {
            detail::append_varint(c.keep, bytes);
            detail::append_varint(c.drop, bytes);
            detail::append_varint(c.text, bytes);
        }
        if (edges_) {
            bytes.append(3, '\0');
            for (unsigned shift = 0; shift < 64; shift += 8) {
                bytes.push_back(static_cast<char>(*edges_ >> shift));
            }
        }
        return bytes;
    }

    /// Reads the output of `to_bytes`; nothing for anything else.
    /// Complexity: O(bytes) expected.
    [[nodiscard]] static std::optional<byte_patch> from_bytes(std::string_view bytes) {
        byte_patch patch;
        bool fits = true;
        const auto number = [&] {
            std::uint64_t value = 0;
            for (unsigned shift = 0;; shift += 7) {
                fits = fits && shift < 35 && !bytes.empty();
                if (!fits) {
                    return std::uint64_t{0};
                }
                const auto byte = static_cast<unsigned char>(bytes.front());
                bytes.remove_prefix(1);
                value |= std::uint64_t{byte & 127U} << shift;
                if (byte < 128U) {
                    return value;
                }
            }
        };
        const auto count = number();
        for (std::uint64_t i = 0; fits && i < count; ++i) {
            const auto size = number();
            fits = fits && size <= bytes.size();
            if (fits) {
                // Texts must be distinct, or their numbers would not be those in the file.
                fits = patch.texts_.intern(bytes.substr(0, size)) == i;
                bytes.remove_prefix(size);
            }
        }
        while (fits && !bytes.empty()) {
            change next;
            next.keep = number();
            next.drop = number();
            const auto text = number();
            if (fits && next.keep == 0 && next.drop == 0 && text == 0) {
                fits = bytes.size() == sizeof(std::uint64_t);
                patch.edges_ = 0;
                for (std::size_t i = 0; fits && i < bytes.size(); ++i) {
                    *patch.edges_ |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
                }
                break;
            }
            fits = fits && text <= count;
            next.text = static_cast<id>(text);
            patch.changes_.push_back(next);
        }
        return fits ? std::optional(std::move(patch)) : std::nullopt;
    }

private:
    struct change {
        std::uint64_t keep = 0;
        std::uint64_t drop = 0;
        id text = 0; // plus one
    };

    /// Texts are short, and a message has room for few of them, so they are not much longer than
    /// it.
    [[nodiscard]] static std::uint64_t room_for_texts(const message_tree& from) {
        constexpr std::uint64_t least = std::uint64_t{1} << 26U;
        constexpr std::uint64_t times = 256;
        std::uint64_t size = 0;
        from.for_each([&](id, std::uint64_t, std::uint64_t range) { size += range; },
                      [&](std::string_view text) { size += text.size(); });
        return least + times * size;
    }

    /// Returns: a hash of the first and the last bytes of each run that stays, where the patch puts
    /// it in its result.
    [[nodiscard]] std::uint64_t edges_of(const message_tree& result, std::string_view file) const {
        constexpr std::uint64_t width = 16;
        auto hash = fnv1a({});
        std::size_t next = 0;
        std::uint64_t begin = 0; // of the run before that change
        std::uint64_t at = 0;
        const auto take = [&](std::string_view bytes) {
            const auto end = at + bytes.size();
            const auto add = [&](std::uint64_t first, std::uint64_t last) {
                first = std::clamp(first, at, end);
                last = std::clamp(last, first, end);
                hash = fnv1a(bytes.substr(first - at, last - first), hash);
            };
            while (next < changes_.size()) {
                const auto& c = changes_[next];
                const auto last = begin + c.keep;
                add(begin, std::min(begin + width, last));
                add(std::max(begin + width, last - std::min(width, c.keep)), last);
                if (last > end) {
                    break; // goes on in the next piece
                }
                begin = last + (c.text == 0 ? 0 : texts_[c.text - 1].size());
                ++next;
            }
            at = end;
        };
        result.for_each(
            [&](id, std::uint64_t from, std::uint64_t size) { take(file.substr(from, size)); },
            take);
        return hash;
    }

    string_pool texts_;
    std::vector<change> changes_;
    std::optional<std::uint64_t> edges_;
};

/// A `splice_sink` that records how to restore the source from what is written to it.
class way_back {
public:
    /// Requires: the source outlives it.
    explicit way_back(std::string_view source) : source_(source) {}

    void copy(std::uint32_t from, std::uint32_t size) {
        if (size > 0) {
            patch_.replace(0, source_.substr(at_, from - at_));
            patch_.keep(size);
            at_ = std::uint64_t{from} + size;
        }
    }
    void write(std::string_view text) { patch_.replace(text.size(), {}); }

    /// Returns: the patch. Requires: the whole result was written.
    [[nodiscard]] byte_patch take() && {
        patch_.replace(0, source_.substr(at_));
        patch_.note_result(source_);
        return std::move(patch_);
    }

private:
    std::string_view source_;
    std::uint64_t at_ = 0;
    byte_patch patch_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_BYTE_PATCH_HPP
