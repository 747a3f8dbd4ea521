// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CAPTURE_DETAIL_CAPTURED_TRACE_HPP
#define STEMMA_CAPTURE_DETAIL_CAPTURED_TRACE_HPP

#include <stemma/align/captured_operations.hpp>
#include <stemma/capture/detail/captured_json.hpp>
#include <stemma/capture/detail/tensor_makers.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/detail/shortened.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/json_part.hpp>
#include <stemma/model/module_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Reads the events of a trace: modules entered and left, calls as written by the user (`func`),
/// and the operators below (`op`).
///
/// A call and everything that ran below it are one operation. Unknown keys and kinds are ignored.
class captured_trace {
public:
    /// Whether no meaningful event was read.
    [[nodiscard]] bool empty() const noexcept { return operations_.empty() && open_.empty(); }

    /// Throws: `error` of `error_code::malformed` if it is not an event, naming `file`.
    /// Complexity: O(size of the event).
    void read_event(json_part event, std::string_view file) {
        const captured_json at(event, file, "event", count_++);
        const auto kind = at.text("kind");
        if (kind == "enter") {
            enter(at);
        } else if (kind == "exit") {
            exit(at);
        } else if (kind == "func" || kind == "op") {
            run(at, kind == "func");
        }
    }

    /// Reads an operation without events: `op`, `module`, and ids and shapes as in events.
    void read_operation(json_part operation, std::string_view file) {
        const captured_json at(operation, file, "operation", count_++);
        captured_operations::operation parsed;
        parsed.module = paths_.intern(at.text("module"));
        parsed.call = at.number("call");
        add(at, at.text("op"), at.strings("in_ids"), parsed);
        note_results(at, operations_.size() - 1);
    }

    /// Reads an entry of the list of modules that could not be hooked: a path, or path and reason.
    /// Throws: as `read_event`.
    void read_unhooked(json_part entry, std::string_view file) {
        const auto path = entry.is_array() ? entry[0] : entry;
        if (!path.is_text()) {
            STEMMA_THROW(
                error(error_code::malformed, file, "unhooked modules", "an entry names no module"));
        }
        unhooked_.emplace_back(path.text());
    }

    /// Returns: the operations, with modules of the tree. Inconsistencies are among the faults.
    /// Complexity: O(operations * depth).
    [[nodiscard]] captured_operations finish(const module_tree& modules) {
        if (!open_.empty()) {
            operations_.add_fault("the trace ends inside module '" +
                                  shortened(open_.back().path, module_tree::report_path_length) +
                                  "': it is truncated");
        }
        if (misplaced_ > 0) {
            operations_.add_fault(std::to_string(misplaced_) +
                                  " events of the trace are outside their module");
        }
        place_operations(modules, paths_, operations_, "trace");
        place_unhooked(modules);
        compare_shapes(modules);
        find_unused();
        return std::move(operations_);
    }

private:
    struct open_module {
        std::string path;
        id call = no_id;
    };

    struct call_above {
        std::string name;
        std::vector<std::string> inputs;
        id operation = no_id;
    };

    void enter(const captured_json& at) {
        const auto path = at.text("module");
        misplaced_ += at.has("stack") && !stands_in(at) ? 1U : 0U;
        ++times_open_[path];
        open_.push_back({path, at.number("call")});
    }

    void exit(const captured_json& at) {
        const auto path = at.text("module");
        if (!open_.empty() && open_.back().path == path) {
            close();
            if (open_.empty()) {
                note_outputs(at);
            }
            return;
        }
        ++misplaced_;
        if (const auto entry = times_open_.find(path);
            entry != times_open_.end() && entry->second > 0) {
            while (open_.back().path != path) {
                close();
            }
            close();
        }
    }

    void close() {
        --times_open_[open_.back().path];
        open_.pop_back();
    }

    /// Whether the modules of an event are the open ones.
    [[nodiscard]] bool stands_in(const captured_json& at) const {
        const auto stack = at.strings("stack");
        return stack.size() == open_.size() &&
               std::equal(stack.begin(), stack.end(), open_.begin(),
                          [](const std::string& a, const open_module& b) { return a == b.path; });
    }

    void run(const captured_json& at, bool is_call) {
        const auto name = at.text("op");
        const auto inputs = at.strings("in_ids");
        const auto seq = at.number("seq");
        const auto call = at.number("func");
        auto into = no_id;
        if (!is_call && call != no_id) {
            const auto entry = by_seq_.find(call);
            into = entry == by_seq_.end() ? no_id : entry->second;
        } else if (!is_call) {
            into = seen_above(name, inputs);
        }
        if (into == no_id) {
            add(at, name, inputs);
            find_earlier(at, name, inputs);
            if (is_call) {
                by_seq_.clear(); // operators below a call follow it
                by_seq_.emplace(seq, operations_.size() - 1);
                above_.push_back({name, inputs, operations_.size() - 1});
                if (above_.size() > 64) {
                    above_.erase(above_.begin(), above_.begin() + 32);
                }
            }
        } else if (into + 1 == operations_.size()) {
            operations_.add_name(name);
        }
        const auto maker = into == no_id ? operations_.size() - 1 : into;
        note_results(at, maker);
    }

    void note_results(const captured_json& at, id maker) {
        makers_.note(at.strings("out_ids"), maker);
    }

    void note_outputs(const captured_json& at) {
        for (const auto& tensor : at.strings("out_ids")) {
            if (const auto maker = makers_.maker(tensor); maker != no_id) {
                operations_.add_result(maker);
            }
        }
    }

    /// Exporters compute repeated operations once, so a repetition may leave nothing.
    void find_earlier(const captured_json& at, const std::string& name,
                      const std::vector<std::string>& inputs) {
        const auto number = operations_.size() - 1;
        if (makers_.is_repeated(number, name, inputs, at.strings("out_ids"),
                                at.shapes("output_shapes"))) {
            operations_[number].optional = true;
        }
    }

    /// Unread results of the model are not exported.
    void find_unused() {
        if (operations_.results().empty()) {
            return;
        }
        std::vector<bool> used(operations_.size(), false);
        for (auto i : operations_.results()) {
            used[i] = true;
        }
        for (auto i = operations_.size(); i-- > 0;) {
            if (used[i]) {
                for (auto source : operations_.sources_of(i)) {
                    used[source] = true;
                }
            } else {
                operations_[i].optional = true;
            }
        }
    }

    /// Some operators are seen twice: as a call, and a little later as an operator outside any.
    /// Returns: the call that is the same operator, or `no_id`.
    [[nodiscard]] id seen_above(const std::string& name, const std::vector<std::string>& inputs) {
        constexpr std::size_t lookback = 8;
        auto result = no_id;
        const auto first = above_.size() > lookback ? above_.size() - lookback : 0;
        for (auto i = above_.size(); i-- > first && result == no_id;) {
            if (above_[i].name == name && above_[i].inputs == inputs) {
                result = above_[i].operation;
                above_.erase(above_.begin(), above_.begin() + static_cast<std::ptrdiff_t>(i + 1));
                return result;
            }
        }
        above_.erase(above_.begin(), above_.begin() + static_cast<std::ptrdiff_t>(first));
        return result;
    }

    void add(const captured_json& at, const std::string& name,
             const std::vector<std::string>& inputs) {
        const auto stack = at.strings("stack");
        misplaced_ += stands_in(at) ? 0U : 1U;
        captured_operations::operation parsed;
        parsed.module = paths_.intern(stack.empty() ? std::string() : stack.back());
        if (!open_.empty() && !stack.empty() && open_.back().path == stack.back()) {
            parsed.call = open_.back().call;
        }
        add(at, name, inputs, parsed);
    }

    void add(const captured_json& at, const std::string& name,
             const std::vector<std::string>& inputs,
             const captured_operations::operation& operation) {
        operations_.add(operation, name);
        const auto shapes = at.shapes("input_shapes");
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const std::string_view input = inputs[i];
            if (input.starts_with("p:")) {
                operations_.add_parameter(
                    input.substr(2), i < shapes.size() ? shapes[i] : std::vector<std::int64_t>{});
            } else if (!makers_.add_source(operations_, inputs[i])) {
                operations_.add_input();
            }
        }
    }

    /// A parameter whose shape differs from the tree's shows that the two are of different models.
    void compare_shapes(const module_tree& modules) {
        enum class state : std::uint8_t { unknown, equal, different };
        std::vector<state> states(operations_.parameter_names().size(), state::unknown);
        std::size_t different = 0;
        std::string example;
        for (id i = 0; i < operations_.size(); ++i) {
            for (const auto& p : operations_.parameters_of(i)) {
                if (p.shape.empty() || states[p.name] != state::unknown) {
                    continue;
                }
                const std::string_view name = operations_.parameter_names()[p.name];
                const auto parameter = find_parameter(modules, name);
                const bool differs = parameter && !parameter->shape.empty() &&
                                     !std::equal(p.shape.begin(), p.shape.end(),
                                                 parameter->shape.begin(), parameter->shape.end());
                states[p.name] = differs ? state::different : state::equal;
                example = differs && different++ == 0 ? std::string(name) : example;
            }
        }
        if (different > 0) {
            operations_.add_fault(
                std::to_string(different) +
                " parameters have different shapes in the trace and in the modules, "
                "such as '" +
                shortened(example, module_tree::report_path_length) + "'");
        }
    }

    /// Which module below an unhooked one ran an operation is only known from the parameters it
    /// reads; without any, it is assumed to be the unhooked module itself.
    void place_unhooked(const module_tree& modules) {
        if (unhooked_.empty()) {
            return;
        }
        const auto& tree = modules.index();
        std::vector<bool> hidden(tree.size(), false);
        for (const auto& path : unhooked_) {
            const auto m = find_path(modules, path);
            if (m != no_id) {
                hidden[m] = true;
            }
        }
        std::vector<id> reads(operations_.size(),
                              no_id); // the hidden module whose parameters it reads
        for (id i = 0; i < operations_.size(); ++i) {
            for (const auto& p : operations_.parameters_of(i)) {
                const std::string_view name = operations_.parameter_names()[p.name];
                const auto owner = find_path(modules, path_around(name));
                if (owner != no_id && hidden[owner] &&
                    tree.is_ancestor(operations_[i].module, owner)) {
                    reads[i] = owner;
                }
            }
        }
        const auto outermost = [&](id m, id below) {
            auto result = no_id;
            for (; m != below && m != no_id; m = m == 0 ? no_id : tree.parent(m)) {
                result = hidden[m] ? m : result;
            }
            return result;
        };
        for (id i = 0; i < operations_.size();) {
            auto end = i + 1;
            while (end < operations_.size() && operations_[end].module == operations_[i].module) {
                ++end;
            }
            place_run(i, end, reads, outermost);
            i = end;
        }
    }

    /// Assigns the operations of a run in one hooked module.
    template <class Outermost>
    void place_run(id first, id last, const std::vector<id>& reads, Outermost outermost) {
        const auto around = operations_[first].module;
        auto next = last;
        auto before = no_id; // hidden module read last
        for (auto i = first; i < last; ++i) {
            if (next == last || next < i) {
                next = i;
                while (next < last && reads[next] == no_id) {
                    ++next;
                }
            }
            if (reads[i] != no_id) {
                before = reads[i];
                operations_[i].module = reads[i];
                operations_[i].exact = false;
            } else if (const auto near = before != no_id ? before
                                         : next < last   ? reads[next]
                                                         : no_id;
                       near != no_id) {
                operations_[i].module = outermost(near, around);
                operations_[i].exact = false;
            }
        }
    }

    captured_operations operations_;
    string_pool paths_;
    std::vector<open_module> open_;
    std::unordered_map<std::string, std::size_t> times_open_; // by path
    std::unordered_map<id, id> by_seq_;
    detail::tensor_makers makers_;
    std::vector<std::string> unhooked_;
    std::vector<call_above> above_; // the last calls
    std::size_t count_ = 0;
    std::size_t misplaced_ = 0;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CAPTURE_DETAIL_CAPTURED_TRACE_HPP
