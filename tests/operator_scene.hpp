// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_OPERATOR_SCENE_HPP
#define STEMMA_TESTS_OPERATOR_SCENE_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

/// Returns: the tree of the modules at some paths, each with its class after a colon, if any.
inline stemma::module_tree tree_of(const std::vector<std::string>& modules) {
    stemma::module_tree_builder builder;
    for (const auto& text : modules) {
        const auto colon = std::min(text.find(':'), text.size());
        const auto m = builder.at_path(text.substr(0, colon));
        if (colon < text.size()) {
            const auto qualified = text.substr(colon + 1);
            builder.set_class(m, qualified.substr(qualified.rfind('.') + 1), qualified);
        }
    }
    return builder.build();
}

/// Returns: the module at a path of a tree, which must exist.
inline stemma::id module_at(const stemma::module_tree& modules, std::string_view path) {
    for (stemma::id m = 0; m < modules.size(); ++m) {
        if (modules.path(m) == path) {
            return m;
        }
    }
    throw std::logic_error("no module " + std::string(path));
}

/// Hand-made operators: a Boost graph with everything a view can know about its vertices.
class operator_scene {
public:
    using edge_property = boost::property<boost::edge_weight_t, bool>; // reads a condition
    using graph_type = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS,
                                             boost::no_property, edge_property>;

    struct operator_record {
        std::string name;
        std::string op_type;
        std::vector<stemma::id> parameters;
        stemma::id owner = stemma::no_id;
        bool reads_data = false;
        bool hides_data = false;
    };

    /// Adds an operator that reads the results of others; without any, an input of the model.
    stemma::id add(const std::vector<stemma::id>& inputs = {}, std::string name = "",
                   std::string op_type = "Add") {
        const auto v = static_cast<stemma::id>(boost::add_vertex(graph_));
        for (auto u : inputs) {
            read(v, u);
        }
        records_.push_back(
            {std::move(name), std::move(op_type), {}, stemma::no_id, inputs.empty(), false});
        return v;
    }

    /// Adds an operator that reads nothing at all.
    stemma::id add_constant(std::string name = "") {
        const auto v = add({}, std::move(name), "Constant");
        records_[v].reads_data = false;
        return v;
    }

    /// Adds an operator to the body of another one, which may come later.
    stemma::id add_inside(stemma::id owner, const std::vector<stemma::id>& inputs) {
        const auto v = add(inputs);
        records_[v].owner = owner;
        records_[v].reads_data = false;
        return v;
    }

    void read(stemma::id reader, stemma::id producer, bool condition = false) {
        boost::add_edge(producer, reader, edge_property(condition), graph_);
    }

    /// Makes an operator read a parameter, added if new.
    void read_parameter(stemma::id v, const std::string& parameter) {
        const auto it = std::find(parameters_.begin(), parameters_.end(), parameter);
        records_[v].parameters.push_back(static_cast<stemma::id>(it - parameters_.begin()));
        if (it == parameters_.end()) {
            parameters_.push_back(parameter);
        }
    }

    [[nodiscard]] operator_record& at(stemma::id v) { return records_[v]; }
    [[nodiscard]] std::size_t size() const { return records_.size(); }

    // The members of an operator view.
    [[nodiscard]] const graph_type& graph() const { return graph_; }
    [[nodiscard]] std::string_view name(std::size_t v) const { return records_[v].name; }
    [[nodiscard]] std::string_view op_type(std::size_t v) const { return records_[v].op_type; }
    [[nodiscard]] stemma::id owner(std::size_t v) const { return records_[v].owner; }
    [[nodiscard]] bool reads_data(std::size_t v) const { return records_[v].reads_data; }
    [[nodiscard]] bool hides_data(std::size_t v) const { return records_[v].hides_data; }
    [[nodiscard]] bool reads_condition(const graph_type::edge_descriptor& e) const {
        return get(boost::edge_weight, graph_, e);
    }
    [[nodiscard]] std::size_t parameter_count() const { return parameters_.size(); }
    [[nodiscard]] std::string_view parameter_name(stemma::id p) const { return parameters_[p]; }
    template <class Function>
    void for_each_parameter(std::size_t v, Function f) const {
        for (auto p : records_[v].parameters) {
            f(p);
        }
    }

private:
    graph_type graph_;
    std::vector<operator_record> records_;
    std::vector<std::string> parameters_;
};

} // namespace test

#endif // STEMMA_TESTS_OPERATOR_SCENE_HPP
