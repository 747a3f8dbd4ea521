// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_NAME_BINDER_HPP
#define STEMMA_ONNX_DETAIL_NAME_BINDER_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Binds the names that nodes of an onnx_model read to the values that have them.
class name_binder : public onnx_model {
    [[nodiscard]] auto same_name(std::string_view name) const {
        return [this, name](id value) { return is_same_text(value_name(value), name); };
    }

    [[nodiscard]] auto same_name_in(id g, std::string_view name) const {
        return [this, g, name](id value) {
            return value_graphs_[value] == g && is_same_text(value_name(value), name);
        };
    }

protected:
    /// Prefetch distance, in names.
    static constexpr std::size_t batch = 32;

    /// Returns: the hash of a name; best computed while its bytes are in cache.
    [[nodiscard]] std::uint64_t hash_of(onnx_model::text_ref name) const noexcept {
        return hash_bytes(text(name));
    }

    /// Reserves room for the names of that many values of the main graph.
    void expect_names(std::size_t count) { main_names_.reserve(count); }

    /// Prefetches the table slot of a name about to be looked up.
    void prefetch_name(std::uint64_t hash) const noexcept { main_names_.prefetch(hash); }

    /// A node of graph `g` reads a name: becomes `inputs_[input]`.
    void meet_input(id input, onnx_model::text_ref name, id g) { enqueue(name, input, g, false); }

    /// A node of graph `g` produces a value with a name.
    void meet_result(id value, onnx_model::text_ref name, id g) { enqueue(name, value, g, true); }

    /// Binds pending names.
    void settle() {
        // Exporters write values before their readers, so an input of the main graph finds its
        // value at once. In a body, a value that hides one of an outer graph may follow later.
        for (const auto& met : std::span(met_).first(met_count_)) {
            if (met.defines) {
                define_result(met.graph, met.name, met.what, met.hash);
                continue;
            }
            const auto bound =
                met.graph == 0 ? main_names_.find(met.hash, same_name(text(met.name))) : no_id;
            if (bound != no_id) {
                inputs_[met.what] = bound;
            } else {
                later_.push_back(met);
            }
        }
        met_count_ = 0;
    }

    /// Adds a value that no node produces.
    id add_value(id g, onnx_model::text_ref name, value_kind kind) {
        value_names_.push_back(name);
        value_graphs_.push_back(g);
        value_kinds_.push_back(kind);
        return static_cast<id>(value_names_.size() - 1);
    }

    /// Gives a value of graph `g` its name, unless another one has it.
    /// Returns: the value that has the name now.
    [[nodiscard]] id define(id g, onnx_model::text_ref ref, id value, std::uint64_t hash) {
        // Names of the main graph have their own table, so that most of a model needs one look-up;
        // those of bodies and functions share one, keyed by graph and name.
        const auto name = text(ref);
        return g == 0 ? main_names_.insert(hash, value, same_name(name))
                      : nested_names_.insert(hash_mix(hash, g), value, same_name_in(g, name));
    }

    /// Returns: the value that a name denotes in graph `g`, or `no_id`.
    [[nodiscard]] id find_visible(id g, onnx_model::text_ref ref, std::uint64_t hash) const {
        const auto name = text(ref);
        while (g != 0) {
            const auto bound = nested_names_.find(hash_mix(hash, g), same_name_in(g, name));
            if (bound != no_id || graphs_[g].kind == graph_kind::function) {
                return bound;
            }
            g = graph_of(graphs_[g].owner);
        }
        return main_names_.find(hash, same_name(name));
    }

    /// Returns: as `find_visible`; a new value if there is none, `no_id` for the name "".
    [[nodiscard]] id look_up(id g, onnx_model::text_ref name, std::uint64_t hash) {
        if (name.size == 0) {
            return no_id;
        }
        if (const auto bound = find_visible(g, name, hash); bound != no_id) {
            return bound;
        }
        while (graphs_[g].kind == graph_kind::body) {
            g = graph_of(graphs_[g].owner);
        }
        const auto value = add_value(g, name, value_kind::undefined);
        static_cast<void>(define(g, name, value, hash));
        return value;
    }

    /// Takes over the inputs of nodes that another binder found after everything that this one
    /// found. Its graphs other than the main one are numbered from 1, and become those from
    /// `graphs` + 1; values from 0 become those from `values`. Leaves none in `part`.
    void append_inputs(name_binder& part, id values, id graphs) {
        const auto first = static_cast<id>(inputs_.size());
        inputs_.reserve(inputs_.size() + part.inputs_.size());
        for (const auto value : std::exchange(part.inputs_, {})) {
            inputs_.push_back(value == no_id ? no_id : value + values);
        }
        later_.reserve(later_.size() + part.later_.size());
        for (auto met : std::exchange(part.later_, {})) {
            met.what += first;
            met.graph += met.graph == 0 ? 0 : graphs;
            later_.push_back(met);
        }
    }

    /// Takes over the names of the last values, defined by another binder. Leaves none in `part`.
    /// Requires: those values were added.
    void append_names(name_binder& part) {
        const auto first = static_cast<id>(value_names_.size() - part.value_names_.size());
        main_names_.insert_all(
            part.main_names_, first,
            [&](id other, id added) { return value_name(other) == value_name(added); },
            [&](id stored, id added) {
                redefined_.push_back(added);
                replaced_.emplace_back(added, stored);
            });
        for (const auto value : part.redefined_) {
            if (part.value_graphs_[value] == 0) {
                redefined_.push_back(first + value);
            }
        }
        // Those of bodies are distinguished by graph numbers, which have changed.
        for (auto value = first; value < value_names_.size(); ++value) {
            if (value_graphs_[value] != 0 && value_names_[value].size > 0) {
                define_result(value_graphs_[value], value_names_[value], value,
                              hash_of(value_names_[value]));
            }
        }
        std::sort(redefined_.begin(), redefined_.end());
        part.main_names_ = {};
        part.value_names_ = {};
        part.value_graphs_ = {};
    }

    /// Binds the inputs whose names were unknown when they were read, with that many threads, after
    /// all values have been defined.
    void bind_later_inputs(std::size_t threads) {
        bind_again();
        for_each_range(later_.size(), threads, [&](std::size_t, std::size_t i, std::size_t end) {
            for (; i < end; ++i) {
                if (i + batch < end) {
                    main_names_.prefetch(later_[i + batch].hash);
                }
                const auto& met = later_[i];
                if (met.graph == 0) {
                    inputs_[met.what] = main_names_.find(met.hash, same_name(text(met.name)));
                }
            }
        });
        // The rest is in bodies, or becomes new values.
        for (const auto& met : later_) {
            if (inputs_[met.what] == no_id) {
                inputs_[met.what] = look_up(met.graph, met.name, met.hash);
            }
        }
        std::vector<met_name>().swap(later_);
    }

    /// Frees the tables. No name can be looked up afterwards.
    void forget_names() {
        main_names_ = {};
        nested_names_ = {};
    }

private:
    /// The name of an input or result of a node, to be looked up or defined.
    struct met_name {
        std::uint64_t hash = 0;
        onnx_model::text_ref name;
        id what = no_id; // value, or index of the input
        id graph = no_id;
        bool defines = false;
    };

    // Names are hashed when read, while their bytes are in cache, but used a batch later: by then
    // the slots they need have been loaded concurrently.
    void enqueue(onnx_model::text_ref name, id what, id g, bool defines) {
        const auto hash = hash_of(name);
        if (g == 0) {
            main_names_.prefetch(hash);
        }
        // Assign members separately: copying a whole temporary stalls on store forwarding.
        auto& met = met_[met_count_++];
        met.hash = hash;
        met.name = name;
        met.what = what;
        met.graph = g;
        met.defines = defines;
        if (met_count_ == batch) {
            settle();
        }
    }

    void define_result(id g, onnx_model::text_ref name, id value, std::uint64_t hash) {
        if (define(g, name, value, hash) != value) {
            redefined_.push_back(value);
        }
    }

    // Of a name that several parts define, the first counts, which later ones could not know.
    void bind_again() {
        if (replaced_.empty()) {
            return;
        }
        std::sort(replaced_.begin(), replaced_.end());
        for (auto& value : inputs_) {
            const auto it =
                std::lower_bound(replaced_.begin(), replaced_.end(), std::pair<id, id>(value, 0));
            if (it != replaced_.end() && it->first == value) {
                value = it->second;
            }
        }
    }

    std::array<met_name, batch> met_{};
    std::size_t met_count_ = 0;
    std::vector<met_name> later_;
    std::vector<std::pair<id, id>>
        replaced_; // values of parts, and earlier ones with the same name
    flat_index main_names_;
    flat_index nested_names_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_NAME_BINDER_HPP
