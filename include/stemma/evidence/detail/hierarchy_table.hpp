// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_HIERARCHY_TABLE_HPP
#define STEMMA_EVIDENCE_DETAIL_HIERARCHY_TABLE_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/python_text.hpp>
#include <stemma/io/json_text.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Who wrote the module hierarchy into metadata.
enum class hierarchy_dialect : std::uint8_t {
    dynamo,  ///< torch's exporter on top of torch.export, keys `pkg.torch.onnx.*`
    builder, ///< the onnxscript builder, keys `pkg.onnxscript.*`
};

/// The modules around an operator, from the outside in.
struct module_chain {
    /// One module of a chain.
    struct level {
        std::string path;            ///< of the module, "" for the root
        std::string qualified_class; ///< "" if not written
    };

    hierarchy_dialect dialect = hierarchy_dialect::dynamo; ///< the writer
    bool from_root = true;     ///< else paths start at an unnamed module
    std::vector<level> levels; ///< from the outside in, at least one
};

/// The distinct chains of modules in the metadata of operators.
struct hierarchy_table {
    std::vector<module_chain> chains; ///< in order of first appearance
    std::vector<id> chain_of; ///< by vertex index; `no_id` for none; empty when nothing has one
    std::vector<std::pair<id, id>> further; ///< vertex index and a further chain, for operators
                                            ///< with repeated keys; ascending
    std::vector<id> rewritten;              ///< operators fused from several, ascending
    std::vector<id> bare; ///< operators without a module in torch's lists, ascending
    std::vector<std::pair<id, std::string_view>>
        class_tags;                ///< of winml-cli, at operators with one or several; ascending
    std::vector<finding> problems; ///< unreadable metadata, at its operators
};

/// Reads the metadata of operators, one operator at a time.
class hierarchy_reader {
public:
    explicit hierarchy_reader(hierarchy_table& table) : table_(table) {}

    void begin() {
        names_ = classes_ = spaces_ = {};
        rewritten = false;
        has_names_ = false;
        for (auto& values : further_) {
            values.clear();
        }
    }

    /// An operator that an optimizer fused from several may have each key once for each of them.
    void entry(id v, std::string_view key, std::string_view value) {
        constexpr std::string_view torch = "pkg.torch.onnx.";
        constexpr std::string_view builder = "pkg.onnxscript.";
        if (key == "namespace") {
            note(spaces_, 2, value);
        } else if (key == "pkg.onnxscript.rewriter.rule_name") {
            rewritten = true;
        } else if (key == "winml.hierarchy.tag") {
            table_.class_tags.emplace_back(v, value);
        } else if (key.starts_with(torch) || key.starts_with(builder)) {
            const bool is_torch = key.starts_with(torch);
            const auto rest = key.substr(is_torch ? torch.size() : builder.size());
            if (rest == "name_scopes" || rest == "class_hierarchy") {
                rest == "name_scopes" ? note(names_, 0, value) : note(classes_, 1, value);
                dialect_ = is_torch ? hierarchy_dialect::dynamo : hierarchy_dialect::builder;
                has_names_ = true;
            }
        }
    }

    /// Calls `f(chain)` for the chains of the operator whose entries were passed: none, one or
    /// several.
    template <class Function>
    void end(id v, Function f) {
        const auto count =
            std::max({further_[0].size(), further_[1].size(), further_[2].size()}) + 1;
        for (std::size_t i = 0; i < count; ++i) {
            if (i > 0) {
                const auto at = [&](std::size_t key) {
                    return i <= further_[key].size() ? further_[key][i - 1] : std::string_view{};
                };
                names_ = at(0);
                classes_ = at(1);
                spaces_ = at(2);
            }
            if (const auto chain = chain_of(v); chain != no_id) {
                f(chain);
            }
        }
    }

    bool rewritten = false;

private:
    void note(std::string_view& first, std::size_t key, std::string_view value) {
        if (first.data() == nullptr) {
            first = value;
        } else {
            further_[key].push_back(value);
        }
    }

    [[nodiscard]] id chain_of(id v) {
        if (!has_names_ && spaces_.find(": ") == spaces_.npos) {
            return no_id;
        }
        if (names_.size() + classes_.size() + spaces_.size() > max_bytes) {
            table_.problems.push_back({"metadata.unreadable", v, "the hierarchy is too long"});
            return no_id;
        }
        const auto key = key_of_chain();
        const auto hash = hash_bytes(key.first, hash_bytes(key.second, has_names_ ? 1 : 0));
        const auto next = static_cast<id>(keys_.size());
        const auto existing =
            index_.insert(hash, next, [&](id other) { return keys_[other] == key; });
        if (existing != next) {
            note_bare(v, existing);
            return chain_[existing];
        }
        keys_.push_back(key);
        module_chain chain;
        name_items_.clear();
        const char* problem = has_names_ ? read_lists(chain) : read_namespace(chain);
        bare_.push_back(problem == nullptr && has_names_ && dialect_ == hierarchy_dialect::dynamo &&
                        name_items_.size() == 1);
        note_bare(v, existing);
        if (problem != nullptr) {
            table_.problems.push_back({"metadata.unreadable", v, problem});
        }
        const bool says_something = problem == nullptr && !chain.levels.empty();
        chain_.push_back(says_something ? static_cast<id>(table_.chains.size()) : no_id);
        if (says_something) {
            table_.chains.push_back(std::move(chain));
        }
        return chain_.back();
    }

    void note_bare(id v, id key) {
        if (bare_[key]) {
            table_.bare.push_back(v);
        }
    }

    // The level that torch.export puts on shape operations instead of a module.
    static constexpr std::string_view no_module = "_empty_nn_module_stack_from_metadata_hook";

    // Limit for a hierarchy of modules; no model has larger ones, and they would cost their square.
    static constexpr std::size_t max_bytes = std::size_t{1} << 18U;
    static constexpr std::size_t max_levels = 1024;

    /// The part shared by the operations of a module. Only well-formed operations share, so an
    /// unreadable one affects no other.
    [[nodiscard]] std::pair<std::string_view, std::string_view> key_of_chain() {
        if (!has_names_) {
            const auto slash = spaces_.rfind('/');
            const bool operation =
                slash != spaces_.npos && spaces_.find(": ", slash) != spaces_.npos;
            return {operation ? spaces_.substr(0, slash) : spaces_, {}};
        }
        if (dialect_ == hierarchy_dialect::builder) {
            return {names_, classes_};
        }
        const auto names = before_operation(names_);
        const auto classes = before_operation(classes_);
        return names == names_.npos || classes == classes_.npos
                   ? std::pair(names_, classes_)
                   : std::pair(names_.substr(0, names), classes_.substr(0, classes));
    }

    /// Returns: the position of the last item of a list, or `npos` if it is malformed.
    [[nodiscard]] std::size_t before_operation(std::string_view list) {
        const auto comma = list.rfind(", ");
        if (comma == list.npos) {
            return comma;
        }
        const auto last = list.substr(comma + 2);
        const auto read = read_python_string(last, operation_);
        return read != 0 && last.substr(read) == "]" && is_utf8(operation_) ? comma : list.npos;
    }

    /// Returns: the problem, or null.
    const char* read_lists(module_chain& chain) {
        chain.dialect = dialect_;
        if (!read_python_list(names_, name_items_)) {
            return "name_scopes is not a list of strings";
        }
        if (!classes_.empty() && !read_python_list(classes_, class_items_)) {
            return "class_hierarchy is not a list of strings";
        }
        if (classes_.empty()) {
            class_items_.assign(name_items_.size(), {});
        }
        if (name_items_.size() != class_items_.size()) {
            return "name_scopes and class_hierarchy have different lengths";
        }
        const bool dynamo = dialect_ == hierarchy_dialect::dynamo;
        const auto modules = name_items_.size() - (dynamo && !name_items_.empty() ? 1 : 0);
        if (modules > max_levels) {
            return "the hierarchy has too many levels";
        }
        for (const auto* items : {&name_items_, &class_items_}) {
            if (!std::all_of(items->begin(), items->end(), is_utf8)) {
                return "the hierarchy is not valid UTF-8";
            }
        }
        std::string path;
        for (std::size_t i = 0; i < modules; ++i) {
            if (name_items_[i].find(no_module) != std::string::npos) {
                chain.levels.clear();
                return nullptr;
            }
            if (dynamo) {
                const auto read = module_path_of(name_items_[i]);
                if (!read) {
                    return "a module is named by an expression that cannot be parsed";
                }
                path = *read;
            } else if (!name_items_[i].empty()) {
                path.append(path.empty() ? "" : ".").append(name_items_[i]);
            }
            if (has_empty_part(path)) {
                return "a module has an empty name";
            }
            chain.levels.push_back({path, class_items_[i]});
        }
        chain.from_root = chain.levels.empty() || chain.levels.front().path.empty();
        return nullptr;
    }

    /// `: app.Net/blocks.0: app.Block/linear: aten.linear.default`, cumulative paths; a `/` in a
    /// class or path makes a part without `: `, which belongs to the previous one.
    const char* read_namespace(module_chain& chain) {
        auto text = spaces_;
        if (!is_utf8(text)) {
            return "the hierarchy is not valid UTF-8";
        }
        while (!text.empty()) {
            const auto slash = text.find('/');
            const auto part = text.substr(0, slash);
            text.remove_prefix(slash == text.npos ? text.size() : slash + 1);
            const auto colon = part.find(": ");
            if (colon == part.npos) {
                if (chain.levels.empty()) {
                    return "namespace does not start with a module";
                }
                chain.levels.back().qualified_class.append("/").append(part);
                continue;
            }
            if (text.find(": ") == text.npos) {
                break; // the last is an operation
            }
            const auto path = module_path_of(part.substr(0, colon));
            if (!path) {
                return "a module is named by an expression that cannot be parsed";
            }
            if (has_empty_part(*path)) {
                return "a module has an empty name";
            }
            if (part.find(no_module) != part.npos) {
                chain.levels.clear();
                return nullptr;
            }
            if (chain.levels.size() == max_levels) {
                return "the hierarchy has too many levels";
            }
            chain.levels.push_back({*path, std::string(part.substr(colon + 2))});
        }
        chain.from_root = chain.levels.empty() || chain.levels.front().path.empty();
        return nullptr;
    }

    hierarchy_table& table_;
    std::string_view names_;
    std::string_view classes_;
    std::string_view spaces_;
    hierarchy_dialect dialect_ = hierarchy_dialect::dynamo;
    bool has_names_ = false;
    std::array<std::vector<std::string_view>, 3> further_; // names, classes, spaces that repeat
    flat_index index_;
    std::vector<std::pair<std::string_view, std::string_view>> keys_;
    std::vector<id> chain_;  // by key
    std::vector<bool> bare_; // by key
    std::vector<std::string> name_items_;
    std::vector<std::string> class_items_;
    std::string operation_;
};

/// Reads the hierarchies that exporters left in the metadata of operators.
///
/// Requires: metadata stay valid while the table is made. Unreadable metadata is reported as a
/// problem, once for each distinct text.
/// Complexity: O(bytes of metadata); lists are parsed once for each distinct chain.
template <operator_view Ops>
[[nodiscard]] hierarchy_table collect_hierarchies(const Ops& ops) {
    hierarchy_table table;
    if constexpr (described_operators<Ops>) {
        const auto& graph = ops.graph();
        detail::hierarchy_reader reader(table);
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            const auto v = static_cast<id>(index_of(graph, *it));
            bool any = false;
            ops.for_each_metadata(*it, [&](std::string_view key, std::string_view value) {
                if (!std::exchange(any, true)) {
                    reader.begin();
                }
                reader.entry(v, key, value);
            });
            if (!any) {
                continue;
            }
            if (reader.rewritten) {
                table.rewritten.push_back(v);
            }
            reader.end(v, [&](id chain) {
                table.chain_of.resize(num_vertices(graph), no_id);
                auto& first = table.chain_of[v];
                if (first == no_id) {
                    first = chain;
                } else if (first != chain) {
                    table.further.emplace_back(v, chain);
                }
            });
        }
        std::sort(table.rewritten.begin(), table.rewritten.end());
        std::sort(table.bare.begin(), table.bare.end());
        const auto stands_before = [](const auto& a, const auto& b) { return a.first < b.first; };
        std::stable_sort(table.further.begin(), table.further.end(), stands_before);
        std::stable_sort(table.class_tags.begin(), table.class_tags.end(), stands_before);
    }
    return table;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_HIERARCHY_TABLE_HPP
