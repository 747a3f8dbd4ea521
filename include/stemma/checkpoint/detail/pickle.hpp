// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_DETAIL_PICKLE_HPP
#define STEMMA_CHECKPOINT_DETAIL_PICKLE_HPP

#include <stemma/checkpoint/detail/pickled_values.hpp>
#include <stemma/config.hpp>
#include <stemma/error.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Reads a pickle without executing it: numbers, texts and containers are built, everything else is
/// passed to `Calls`, which knows the meaning of a few names:
/// - `call(values, function, arguments)`: the result of calling a name;
/// - `refer(values, id)`: what a persistent id stands for;
/// - `name(values, module, attribute)`: checks whether a name is allowed.
template <class Calls>
class pickle_reader {
public:
    /// Requires: the arguments outlive this.
    pickle_reader(std::string_view bytes, pickled_values& values, Calls& calls)
        : bytes_(bytes), values_(&values), calls_(&calls) {}

    /// Returns: the value of the pickle.
    /// Throws: `error` of `error_code::malformed` or `unsupported`. Complexity: O(bytes).
    [[nodiscard]] pickled read() {
        if (bytes_.size() >= std::numeric_limits<std::uint32_t>::max()) {
            values_->fail(error_code::unsupported, "has 4 GiB or more");
        }
        for (;;) {
            const auto op = static_cast<unsigned char>(take(1).front());
            if (op == '.') {
                const auto result = pop();
                if (!stack_.empty() || !marks_.empty()) {
                    damaged();
                }
                return result;
            }
            step(op);
        }
    }

private:
    using kind = pickled_kind;

    [[noreturn]] void damaged() const { values_->fail("is not a pickle, or is damaged"); }

    [[nodiscard]] std::string_view take(std::uint64_t size) {
        if (size > bytes_.size() - at_) {
            damaged();
        }
        const auto taken = bytes_.substr(at_, size);
        at_ += size;
        return taken;
    }

    [[nodiscard]] std::uint64_t number(unsigned size) {
        std::uint64_t value = 0;
        const auto digits = take(size);
        for (auto i = size; i-- > 0;) {
            value = value << 8U | static_cast<unsigned char>(digits[i]);
        }
        return value;
    }

    [[nodiscard]] std::string_view line() {
        const auto end = bytes_.find('\n', at_);
        if (end == bytes_.npos) {
            damaged();
        }
        const auto text = take(end - at_);
        ++at_;
        return text;
    }

    void push(pickled v) { stack_.push_back(v); }

    pickled pop() {
        if (stack_.size() <= bottom()) {
            damaged();
        }
        const auto top = stack_.back();
        stack_.pop_back();
        return top;
    }

    [[nodiscard]] pickled top() const {
        if (stack_.size() <= bottom()) {
            damaged();
        }
        return stack_.back();
    }

    [[nodiscard]] std::size_t bottom() const noexcept { return marks_.empty() ? 0 : marks_.back(); }

    /// Returns: everything above the last mark, which is removed.
    [[nodiscard]] std::vector<pickled> pop_marked() {
        if (marks_.empty()) {
            damaged();
        }
        const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
        std::vector<pickled> items(begin, stack_.end());
        stack_.erase(begin, stack_.end());
        marks_.pop_back();
        return items;
    }

    void push_tuple(std::size_t count) {
        std::vector<pickled> items(count);
        for (auto i = count; i-- > 0;) {
            items[i] = pop();
        }
        push(values_->add_container(kind::list, std::move(items)));
    }

    void append(const std::vector<pickled>& items, kind expected) {
        const auto to = top();
        if (expected == kind::dict && items.size() % 2 != 0) {
            damaged();
        }
        if (values_->is(to, expected)) {
            auto& held = values_->items(to);
            held.insert(held.end(), items.begin(), items.end());
        } else if (!values_->is(to, kind::other)) {
            damaged();
        }
    }

    void push_integer(std::string_view digits) {
        if (digits.size() > 8) {
            push(values_->add(kind::other)); // neither extent nor position
            return;
        }
        std::uint64_t value = 0;
        for (auto i = digits.size(); i-- > 0;) {
            value = value << 8U | static_cast<unsigned char>(digits[i]);
        }
        if (!digits.empty() && (static_cast<unsigned char>(digits.back()) & 0x80U) != 0 &&
            digits.size() < 8) {
            value |= ~std::uint64_t{0} << (8 * digits.size());
        }
        push(values_->add(kind::integer, static_cast<std::int64_t>(value)));
    }

    void push_text(std::uint64_t size) { push(values_->add_text(kind::text, take(size))); }

    void push_global(std::string_view module, std::string_view attribute) {
        calls_->name(*values_, module, attribute);
        push(values_->add_text(kind::global, module));
        // A name is two texts; the second is stored beside the first.
        (*values_)[top()].attributes = values_->add_text(kind::text, attribute);
    }

    void memoize(std::uint64_t key) { memo_[key] = top(); }

    void push_memo(std::uint64_t key) {
        const auto entry = memo_.find(key);
        if (entry == memo_.end()) {
            damaged();
        }
        push(entry->second);
    }

    void call() {
        const auto arguments = pop();
        const auto function = pop();
        if (!values_->is(function, kind::global) || !values_->is(arguments, kind::list)) {
            values_->fail("calls an object that is not a name");
        }
        push(calls_->call(*values_, function, arguments));
    }

    void build() {
        const auto state = pop();
        auto& built = (*values_)[top()];
        if (built.kind == kind::global || built.kind == kind::text) {
            damaged();
        }
        if (built.kind == kind::dict || built.kind == kind::object) {
            built.attributes = state;
        }
    }

    void step(unsigned char op) {
        switch (op) {
        case 0x80: // PROTO
            if (const auto protocol = number(1); protocol < 2 || protocol > 5) {
                values_->fail(error_code::unsupported,
                              "is a pickle of protocol " + std::to_string(protocol));
            }
            return;
        case 0x95: // FRAME
            static_cast<void>(number(8));
            return;
        case '(':
            marks_.push_back(stack_.size());
            return;
        case '0':
            static_cast<void>(pop());
            return;
        case '1':
            static_cast<void>(pop_marked());
            return;
        case '2':
            push(top());
            return;
        case 'N':
            push(values_->add(kind::none));
            return;
        case 0x88:
        case 0x89:
            push(values_->add(kind::boolean, op == 0x88 ? 1 : 0));
            return;
        case 'J':
            return push_integer(take(4));
        case 'K':
            push(values_->add(kind::integer, static_cast<std::int64_t>(number(1))));
            return;
        case 'M':
            push(values_->add(kind::integer, static_cast<std::int64_t>(number(2))));
            return;
        case 0x8a: // LONG1
            return push_integer(take(number(1)));
        case 0x8b: // LONG4
            return push_integer(take(number(4)));
        case 'G':
            static_cast<void>(take(8));
            push(values_->add(kind::real));
            return;
        case 'X': // texts: BINUNICODE, BINSTRING, BINBYTES, and short and long ones
        case 'T':
        case 'B':
            return push_text(number(4));
        case 0x8c:
        case 'U':
        case 'C':
            return push_text(number(1));
        case 0x8d:
        case 0x8e:
        case 0x96:
            return push_text(number(8));
        default:
            return step_of_containers(op);
        }
    }

    void step_of_containers(unsigned char op) {
        switch (op) {
        case ')':
        case ']':
        case 0x8f: // EMPTY_SET
            push(values_->add_container(kind::list));
            return;
        case '}':
            push(values_->add_container(kind::dict));
            return;
        case 't':
        case 'l':
        case 0x91: { // FROZENSET
            auto items = pop_marked();
            push(values_->add_container(kind::list, std::move(items)));
            return;
        }
        case 'd': {
            auto items = pop_marked();
            push(values_->add_container(kind::dict));
            return append(items, kind::dict);
        }
        case 0x85:
        case 0x86:
        case 0x87: // TUPLE1 to TUPLE3
            return push_tuple(op - 0x84U);
        case 'a':
            return append({pop()}, kind::list);
        case 'e':
        case 0x90: // ADDITEMS
            return append(pop_marked(), kind::list);
        case 's': {
            const auto value = pop();
            const auto key = pop();
            return append({key, value}, kind::dict);
        }
        case 'u':
            return append(pop_marked(), kind::dict);
        case 'q':
            return memoize(number(1));
        case 'r':
            return memoize(number(4));
        case 0x94: // MEMOIZE
            return memoize(memo_.size());
        case 'h':
            return push_memo(number(1));
        case 'j':
            return push_memo(number(4));
        default:
            return step_of_names(op);
        }
    }

    void step_of_names(unsigned char op) {
        switch (op) {
        case 'c': {
            const auto module = line();
            return push_global(module, line());
        }
        case 0x93: { // STACK_GLOBAL
            const auto attribute = pop();
            const auto module = pop();
            if (!values_->is(module, kind::text) || !values_->is(attribute, kind::text)) {
                damaged();
            }
            return push_global(values_->text(module), values_->text(attribute));
        }
        case 'R':
        case 0x81: // NEWOBJ
            return call();
        case 0x92: // NEWOBJ_EX
            static_cast<void>(pop());
            return call();
        case 'b':
            return build();
        case 'Q': { // BINPERSID
            const auto reference = pop();
            push(calls_->refer(*values_, reference));
            return;
        }
        default:
            values_->fail(error_code::unsupported,
                          "uses an operation that no checkpoint needs (opcode " +
                              std::to_string(op) + ")");
        }
    }

    std::string_view bytes_;
    pickled_values* values_;
    Calls* calls_;
    std::size_t at_ = 0;
    std::vector<pickled> stack_;
    std::vector<std::size_t> marks_;
    std::unordered_map<std::uint64_t, pickled> memo_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CHECKPOINT_DETAIL_PICKLE_HPP
