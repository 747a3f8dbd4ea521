// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "terminal.hpp"

#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/compare_tags.hpp>
#include <stemma/onnx/wire/check_structure.hpp>
#include <stemma/onnx/wire/compare_initializers.hpp>
#include <stemma/onnx/wire/compare_structure.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace cli {

namespace {

using stemma::id;
using stemma::no_id;

struct compare_options {
    common_options common;
    std::string other;
    std::vector<std::string> only;
    std::size_t rows = 20;
};

/// What two models have in common and what not; parts that nobody asked for are missing.
struct comparison {
    bool looked_at_structure = false;
    std::optional<stemma::structure_difference> structure;
    std::size_t renamed_nodes = 0;
    bool looked_at_weights = false;
    std::size_t same_weights = 0;
    std::vector<stemma::initializer_difference> weights;
    std::optional<stemma::tag_comparison> tags;

    [[nodiscard]] bool is_equal() const {
        return !structure && weights.empty() && (!tags || tags->is_equal());
    }
};

class comparer {
public:
    explicit comparer(const compare_options& options)
        : options_(options), first_(open_model(options.common)), second_(open_second()) {
        const auto structure = stemma::compare_structure(first_->model(), second_->model());
        find_partners(!structure);
        if (wants("structure")) {
            found_.looked_at_structure = true;
            found_.structure = structure;
        }
        if (wants("initializers")) {
            found_.looked_at_weights = true;
            found_.same_weights = stemma::compare_initializers(
                first_->model(), second_->model(),
                [&](const auto& difference) { found_.weights.push_back(difference); });
        }
        if (wants("tags")) {
            found_.tags = stemma::compare_tags(first_->tags(), second_->tags(), partners_);
        }
    }

    [[nodiscard]] const comparison& found() const { return found_; }

    void print() const {
        if (found_.looked_at_structure) {
            print_structure();
        }
        if (found_.looked_at_weights) {
            print_weights();
        }
        if (found_.tags) {
            print_tags(*found_.tags);
        }
    }

    void write() const {
        standard_output out;
        stemma::json_writer json(out);
        json.begin_object();
        json.member("schema", "stemma.compare/1");
        json.member("first", options_.common.model);
        json.member("second", options_.other);
        json.member("equal", found_.is_equal());
        if (found_.looked_at_structure) {
            write_structure(json);
        }
        if (found_.looked_at_weights) {
            write_weights(json);
        }
        if (found_.tags) {
            write_tags(json, *found_.tags);
        }
        json.end_object();
        json.finish();
    }

private:
    using writer = stemma::json_writer<standard_output>;

    [[nodiscard]] std::unique_ptr<stemma::attributed_model> open_second() const {
        auto how = options_.common;
        how.model = options_.other;
        return open_model(how);
    }

    [[nodiscard]] bool wants(const std::string& part) const {
        return options_.only.empty() ||
               std::find(options_.only.begin(), options_.only.end(), part) != options_.only.end();
    }

    /// Nodes of equal graphs are partners by position, those of others by name.
    void find_partners(bool equal) {
        if (!equal) {
            partners_ = stemma::match_by_name(first_->model(), second_->model());
            return;
        }
        partners_.resize(first_->model().node_count());
        std::iota(partners_.begin(), partners_.end(), id{0});
        for (auto node : partners_) {
            found_.renamed_nodes +=
                first_->model().name(node) == second_->model().name(node) ? 0U : 1U;
        }
    }

    [[nodiscard]] static std::string node_line(const stemma::attributed_model& opened, id node) {
        return fmt::format("{} {}", opened.model().op_type(node),
                           stemma::place_of(opened.model(), node));
    }

    /// Some nodes around the difference, so that a reader sees where it is.
    static void print_context(const char* label, const stemma::attributed_model& opened, id node) {
        if (node == no_id) {
            return;
        }
        const id first = node < 2 ? 0 : node - 2;
        const auto end = std::min<id>(node + 2, opened.model().node_count());
        for (id each = first; each < end; ++each) {
            put("  {} {} {}\n", fitted(each == first ? label : "", 7), each == node ? ">" : " ",
                node_line(opened, each));
        }
    }

    void print_structure() const {
        if (!found_.structure) {
            const auto names =
                found_.renamed_nodes == 0
                    ? std::string()
                    : fmt::format(", {} with another name", counted(found_.renamed_nodes, "node"));
            put("structure    identical: {}{}\n", counted(first_->model().node_count(), "node"),
                names);
            return;
        }
        const auto& difference = *found_.structure;
        put("structure    {}: {} {}\n", shaded("different", shade::bad),
            difference.first == no_id ? "the first model"
                                      : stemma::place_of(first_->model(), difference.first),
            difference.text);
        print_context("first", *first_, difference.first);
        print_context("second", *second_, difference.second);
    }

    void print_weights() const {
        put("initializers {}: {} the same\n",
            found_.weights.empty() ? "identical" : shaded("different", shade::bad),
            grouped(found_.same_weights));
        for (std::size_t i = 0; i < found_.weights.size(); ++i) {
            const auto& one = found_.weights[i];
            if (i == options_.rows) {
                put("  and {} more\n", grouped(found_.weights.size() - i));
                break;
            }
            put("  {} {}{} ({})\n", fitted(to_string(one.change), 8), one.name,
                one.other.empty() ? std::string() : " to " + one.other, one.text);
        }
    }

    void print_tags(const stemma::tag_comparison& tags) const {
        put("tags         {}: {} with equal tags\n",
            tags.is_equal() ? "identical" : shaded("different", shade::bad),
            counted(tags.same, "node"));
        if (tags.only_first + tags.only_second > 0) {
            put("  {} of the first model and {} of the second one have no partner\n",
                counted(tags.only_first, "node"), grouped(tags.only_second));
        }
        std::size_t shown = 0;
        const auto row = [&](const std::string& text) {
            if (++shown <= options_.rows) {
                put("  {}\n", text);
            }
        };
        for (const auto& one : tags.vanished) {
            row(fmt::format("vanished {} ({})", one.tag, counted(one.nodes, "node")));
        }
        for (const auto& one : tags.appeared) {
            row(fmt::format("appeared {} ({})", one.tag, counted(one.nodes, "node")));
        }
        for (const auto& one : tags.moves) {
            row(fmt::format("moved    {} from {}\n           to {}",
                            one.nodes == 1 ? stemma::place_of(first_->model(), one.example)
                                           : counted(one.nodes, "node"),
                            one.from, one.to));
        }
        if (shown > options_.rows) {
            put("  and {} more\n", grouped(shown - options_.rows));
        }
    }

    void write_node(writer& json, const char* key, const stemma::attributed_model& opened,
                    id node) const {
        json.key(key);
        if (node == no_id) {
            json.null();
            return;
        }
        json.begin_object(true);
        json.member("node", position_text(opened.model(), node));
        json.member("name", opened.model().name(node));
        json.member("op_type", opened.model().op_type(node));
        json.end_object();
    }

    void write_structure(writer& json) const {
        json.key("structure");
        json.begin_object();
        json.member("equal", !found_.structure);
        json.member("renamed_nodes", found_.renamed_nodes);
        json.key("difference");
        if (found_.structure) {
            json.begin_object();
            json.member("text", found_.structure->text);
            write_node(json, "first", *first_, found_.structure->first);
            write_node(json, "second", *second_, found_.structure->second);
            json.end_object();
        } else {
            json.null();
        }
        json.end_object();
    }

    void write_weights(writer& json) const {
        json.key("initializers");
        json.begin_object();
        json.member("equal", found_.weights.empty());
        json.member("same", found_.same_weights);
        json.key("differences");
        json.begin_array();
        for (const auto& one : found_.weights) {
            json.begin_object(true);
            json.member("change", to_string(one.change));
            json.member("name", one.name);
            json.key("other");
            one.other.empty() ? json.null() : json.value(one.other);
            json.member("text", one.text);
            json.end_object();
        }
        json.end_array();
        json.end_object();
    }

    void write_tags(writer& json, const stemma::tag_comparison& tags) const {
        json.key("tags");
        json.begin_object();
        json.member("equal", tags.is_equal());
        json.member("same", tags.same);
        json.member("only_first", tags.only_first);
        json.member("only_second", tags.only_second);
        const auto write_counts = [&](const char* key, const auto& counts) {
            json.key(key);
            json.begin_array();
            for (const auto& one : counts) {
                json.begin_object(true);
                json.member("tag", one.tag);
                json.member("nodes", one.nodes);
                json.end_object();
            }
            json.end_array();
        };
        write_counts("vanished", tags.vanished);
        write_counts("appeared", tags.appeared);
        json.key("moved");
        json.begin_array();
        for (const auto& one : tags.moves) {
            json.begin_object(true);
            json.member("from", one.from);
            json.member("to", one.to);
            json.member("nodes", one.nodes);
            json.member("example", position_text(first_->model(), one.example));
            json.end_object();
        }
        json.end_array();
        json.end_object();
    }

    const compare_options& options_;
    std::unique_ptr<stemma::attributed_model> first_;
    std::unique_ptr<stemma::attributed_model> second_;
    std::vector<id> partners_;
    comparison found_;
};

int compare(const compare_options& options) {
    const comparer both(options);
    options.common.format == "json" ? both.write() : both.print();
    return both.found().is_equal() ? done : found_something;
}

} // namespace

void add_compare(CLI::App& app, action& chosen) {
    auto options = std::make_shared<compare_options>();
    auto& command = *app.add_subcommand(
        "compare", "say whether two models are the same graph, and how their tags differ");
    add_common_options(command, options->common);
    command.add_option("OTHER", options->other, "the model to compare with")->required();
    command.add_option("--only", options->only, "compare only: structure, initializers, tags")
        ->type_name("PART,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember({"structure", "initializers", "tags"}));
    command.add_option("--rows", options->rows, "differences of one kind that are printed at most")
        ->type_name("N")
        ->default_str("20");
    command.footer("Status 1 when the models differ.\n\n"
                   "Examples:\n  stemma compare model.onnx optimized.onnx\n"
                   "  stemma compare old.onnx new.onnx --only structure,initializers");
    command.callback([&chosen, options] { chosen = [options] { return compare(*options); }; });
}

} // namespace cli
