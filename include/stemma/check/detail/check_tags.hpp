// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECK_DETAIL_CHECK_TAGS_HPP
#define STEMMA_CHECK_DETAIL_CHECK_TAGS_HPP

#include <stemma/check/detail/check_structure.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/error.hpp>
#include <stemma/model/detail/tag_lookup.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/structure_digest.hpp>
#include <stemma/onnx/detail/tag_attribute.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attribution_options.hpp>
#include <stemma/record/detail/graph_sketch.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/read_tags.hpp>
#include <stemma/record/detail/recorded_tags.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/tagging/name_modules.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Checks the tags in a file against its recorded tree.
template <class Report>
class tag_checker {
public:
    tag_checker(const wire_model& model, Report& report, const onnx_policy_registry& registry)
        : model_(model), report_(report), registry_(registry) {}

    void check() {
        auto record = find_model_record(model_);
        if (!record) {
            check_untagged();
            return;
        }
        modules_ = std::move(record->modules);
        wanted_ = record->carriers;
        const bool fresh = record->fits(model_.node_count(), find_digests(model_));
        if (!fresh) {
            tell("tags.stale", no_id, "the model changed since it was tagged", severity::warning);
        }
        if (!name_all(*record)) {
            return;
        }
        const auto table = find_model_metadata(model_, tag_table_key);
        if (table && record->nodes == model_.node_count()) {
            table_ = read_recorded_tags(*table, model_.file(), model_.node_count(), modules_.size())
                         .module;
        }
        expect("model", no_id, table.has_value(), wanted_.model);
        const auto sketch = find_model_metadata(model_, sketch_key);
        if (wanted_.mark && (!sketch || !read_sketch(*sketch, modules_.size()))) {
            tell("tags.incomplete", no_id, "has no readable sketch of the graph");
        }
        reads_marks_ = wanted_.mark || sketch;
        marks_fit_ = fresh && reads_marks_;
        for (id node = 0; node < model_.node_count(); ++node) {
            check_node(node);
        }
        model_.for_each_value_metadata([&](id value, std::string_view key, std::string_view text) {
            if (key == hierarchy_tags_key) {
                check_list(text, no_id, "value '" + std::string(model_.value_name(value)) + "'");
            }
        });
    }

private:
    void tell(const char* code, id node, std::string text, severity level = severity::error) {
        report_(finding{code, node, std::move(text), level,
                        node == no_id ? std::string("model") : place_of(model_, node)});
    }

    void check_untagged() {
        for (id node = 0; node < model_.node_count(); ++node) {
            const auto carried = read_carried_tags(model_, node);
            if (carried.module || carried.tag) {
                tell("tags.no_record", node, "has tags, but the model has no record of them");
                return;
            }
        }
        tell("tags.none", no_id, "has no tags", severity::information);
    }

    /// Names the modules with the recorded policies.
    [[nodiscard]] bool name_all(const model_record& record) {
        const auto refuse = [&](const std::string& name, const char* purpose) {
            tell("tags.selection", no_id,
                 "unknown policy '" + name + "', by which modules " + purpose);
            return false;
        };
        attribution_options named;
        named.known = &registry_;
        static_cast<void>(adopt_options(named, record));
        for (const auto& [role, purpose, chosen] :
             {std::tuple("naming", "are named", named.naming.is_chosen()),
              std::tuple("select", "have tags", named.selection.is_chosen())}) {
            if (!chosen && !record.option(role).empty()) {
                return refuse(record.option(role), purpose);
            }
        }
        tags_ = name_modules(modules_, named.selection, named.naming);
        by_tag_.emplace(tags_);
        return true;
    }

    /// Recorded carriers must be present; others are reported once.
    void expect(const char* carrier, id node, bool present, bool wanted) {
        if (wanted && !present) {
            tell("tags.incomplete", node, std::string("has no tags in ") + carrier);
        } else if (!wanted && present && !range::contains(unwanted_, carrier)) {
            unwanted_.emplace_back(carrier);
            tell("tags.unrecorded", node,
                 std::string("has tags in ") + carrier + ", which the record does not list",
                 severity::warning);
        }
    }

    /// Whether a node has an attribute of that name from elsewhere, which stays.
    [[nodiscard]] bool has_foreign_attribute(id node) const {
        bool foreign = false;
        node_attributes(model_, node).for_each([&](std::string_view name, wire_reader attribute) {
            foreign = foreign || (name == source_module_attribute && !is_tag_attribute(attribute));
        });
        return foreign;
    }

    void check_node(id node) {
        const auto carriers = read_node_carriers(model_, node);
        const auto is_there = [](const carried_tags& tags) { return tags.module || tags.tag; };
        expect("metadata", node, is_there(carriers.metadata), wanted_.metadata);
        expect("doc_string", node, is_there(carriers.doc_string), wanted_.doc_string);
        expect("mark", node, reads_marks_ && !carriers.marks.empty(), wanted_.mark);
        if (marks_fit_ && !carriers.marks.empty() && carriers.marks.back() != node) {
            tell("tags.disagree", node, "has the mark of another node");
        }
        expect("attributes", node, is_there(carriers.attribute),
               wanted_.attribute && !has_foreign_attribute(node));
        if (wanted_.name_space) {
            expect("namespace", node, carriers.name_space.has_value(), true);
        }
        std::optional<id> said; // by the previous carrier
        const auto agree = [&](id module) {
            if (module == no_id) {
                return;
            }
            if (said && tags_.selected(*said) != tags_.selected(module)) {
                tell("tags.disagree", node,
                     "is in '" + tags_.text(*said) + "' by one carrier, in '" + tags_.text(module) +
                         "' by another");
            }
            said = module;
        };
        agree(check_carried(node, carriers.metadata));
        agree(check_carried(node, carriers.doc_string));
        agree(check_carried(node, carriers.attribute));
        if (!table_.empty()) {
            agree(table_[node]);
        }
        if (wanted_.name_space && carriers.name_space && said) {
            check_namespace(node, *carriers.name_space, *said);
        }
        if (carriers.all) {
            check_list(*carriers.all, node, place_of(model_, node));
        }
    }

    /// Returns: the module given by a carrier, or `no_id`.
    [[nodiscard]] id check_carried(id node, const carried_tags& carried) {
        id by_path = no_id;
        id by_tag = no_id;
        if (carried.module) {
            by_path = find_module(module_lookup<module_tree>(modules_), *carried.module);
            if (by_path == no_id) {
                tell("tags.unknown_module", node,
                     "module '" + *carried.module + "' is not in the tree");
            }
        }
        if (carried.tag) {
            by_tag = by_tag_->find(*carried.tag);
            if (by_tag == no_id) {
                tell("tags.unknown_tag", node, "no module has the tag '" + *carried.tag + "'");
            }
        }
        if (by_path != no_id && by_tag != no_id && tags_.writable(by_path) != by_tag) {
            tell("tags.inconsistent", node,
                 "has the tag '" + *carried.tag + "', but that of its module '" + *carried.module +
                     "' is '" + tags_.text(tags_.writable(by_path)) + "'");
        }
        return by_path != no_id ? by_path : by_tag;
    }

    void check_namespace(id node, std::string_view text, id module) {
        auto path = modules_.path(module);
        std::replace(path.begin(), path.end(), '.', '/');
        // If only a tag is known, the path may go deeper.
        if (path != text &&
            !(text.starts_with(path) && text.substr(path.size()).starts_with('/')) && module != 0) {
            tell("tags.disagree", node,
                 "is in '" + path + "', but its namespace is '" + std::string(text) + "'");
        }
    }

    void check_list(std::string_view text, id node, std::string place) {
        const auto list = nlohmann::json::parse(text, nullptr, false);
        std::string problem;
        if (!list.is_array() || list.empty()) {
            problem = "its list of tags cannot be read";
        } else {
            for (const auto& tag : list) {
                if (!tag.is_string()) {
                    problem = "its list of tags cannot be read";
                } else if (by_tag_->find(tag.template get_ref<const std::string&>()) == no_id) {
                    problem = "no module has the tag " + tag.dump(-1, ' ', false, replace_invalid);
                }
            }
        }
        if (!problem.empty()) {
            report_(finding{"tags.unknown_tag", node, std::move(problem), severity::error,
                            std::move(place)});
        }
    }

    static constexpr auto replace_invalid = nlohmann::json::error_handler_t::replace;

    const wire_model& model_;
    Report& report_;
    const onnx_policy_registry& registry_;
    module_tree modules_;
    carrier_set wanted_;
    tag_table tags_;
    std::optional<tag_lookup> by_tag_;
    std::vector<id> table_;    // by node, if the model has a table
    bool reads_marks_ = false; // else they are of the model that this is a part of
    bool marks_fit_ = false;   // the graph did not change
    std::vector<std::string_view> unwanted_;
};

/// Calls `report(finding)` for every problem with the tags in a file: nodes without tags, tags that
/// contradict the tree or each other, a changed graph, and `tags.damaged` for an unreadable record.
/// Complexity: O(nodes + fields + length of all tags).
template <class Report>
void check_tags(const wire_model& model, Report report, const onnx_policy_registry& registry = {}) {
    try {
        tag_checker<Report>(model, report, registry).check();
    } catch (const error& damaged) {
        if (damaged.code() != error_code::malformed) {
            throw;
        }
        report(finding{"tags.damaged", no_id, damaged.what(), severity::error, "model"});
    }
}

/// Calls `report(finding)` if the tree in a tagged file differs from `expected`, at the first
/// different module, and if the file is not tagged. Complexity: O(modules).
template <class Report>
void check_tree(const wire_model& model, const module_tree& expected, Report report) {
    const auto record = find_readable_record(model, model_key);
    if (!record) {
        report(finding{"tags.none", no_id, "has no tags to compare with the capture",
                       severity::warning, "model"});
        return;
    }
    const auto& tree = record->modules;
    const auto count = std::min(tree.size(), expected.size());
    id m = 0;
    while (m < count && tree.name(m) == expected.name(m) &&
           tree.class_name(m) == expected.class_name(m) &&
           tree.index().parent(m) == expected.index().parent(m)) {
        ++m;
    }
    if (m < tree.size() || m < expected.size()) {
        const auto& with = m < tree.size() ? tree : expected;
        report(finding{"tags.other_tree", no_id, "is not the same in the file and in the capture",
                       severity::warning, m == 0 ? "the root" : "module '" + with.path(m) + "'"});
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CHECK_DETAIL_CHECK_TAGS_HPP
