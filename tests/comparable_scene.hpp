// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_COMPARABLE_SCENE_HPP
#define STEMMA_TESTS_COMPARABLE_SCENE_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/core/id.hpp>

#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

using stemma::comparable_graph;
using stemma::id;

/// A graph whose operators name their inputs and outputs, the latter with blanks between; values
/// that begin with `w` are stored, with contents given by the name up to an apostrophe.
class comparable_scene {
public:
    explicit comparable_scene(const std::vector<std::string>& given) {
        for (const auto& name : given) {
            values_[name] = graph.add_value(comparable_graph::value_role::given, keep(name));
        }
    }

    comparable_scene& add(std::string_view type, const std::vector<std::string>& reads,
                          const std::string& makes, std::string_view name = "") {
        std::vector<id> inputs;
        for (const auto& read : reads) {
            if (!values_.contains(read)) {
                const auto content = std::hash<std::string>{}(read.substr(0, read.find('\'')));
                values_[read] = graph.add_value(
                    comparable_graph::value_role::stored, keep(read),
                    {.exact = content | 1U, .loose = content, .nonzero = content % 999 + 8});
            }
            inputs.push_back(values_.at(read));
        }
        std::vector<id> outputs;
        std::istringstream names(makes);
        for (std::string one; names >> one;) {
            values_[one] = graph.add_value(comparable_graph::value_role::made, keep(one));
            outputs.push_back(values_.at(one));
        }
        graph.add_operator(
            {.type = type, .name = keep(std::string(name)), .hides_data = type == "Shape"}, inputs,
            outputs);
        return *this;
    }

    /// Adds a Constant that stores such a value, which is read by its name.
    comparable_scene& constant(const std::string& name) {
        const auto content = std::hash<std::string>{}(name.substr(0, name.find('\'')));
        const auto value = graph.add_value(comparable_graph::value_role::stored, keep(name),
                                           {.exact = content | 1U});
        values_[name] = value;
        graph.add_operator({.type = "Constant", .attributes = content, .constant = true}, {},
                           std::vector{value});
        return *this;
    }

    comparable_scene& result(const std::string& name) {
        graph.add_result(values_.at(name));
        return *this;
    }

    [[nodiscard]] id value(const std::string& name) const { return values_.at(name); }

    comparable_graph graph;

private:
    std::string_view keep(const std::string& name) { return texts_.emplace(name, 0).first->first; }

    std::map<std::string, id> values_;
    std::map<std::string, int> texts_;
};

} // namespace test

#endif // STEMMA_TESTS_COMPARABLE_SCENE_HPP
