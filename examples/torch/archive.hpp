// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_TORCH_ARCHIVE_HPP
#define STEMMA_EXAMPLES_TORCH_ARCHIVE_HPP

// What libtorch knows of a TorchScript archive:
//
//     const auto found = torch_capture::from_archive(torch::jit::load("model.pt"));

#include "modules.hpp"

#include <stemma/align/captured_operations.hpp>
#include <stemma/core/id.hpp>

#include <torch/script.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch_capture {

namespace detail {

/// What is known of a value of TorchScript: the module it is, or where its tensors come from.
struct known_value {
    std::optional<torch::jit::Module> module;
    std::vector<at::Tensor> parameters;
    std::vector<stemma::id> makers; ///< operations
    bool is_input = false;
    std::vector<known_value> parts; ///< of a tuple or list

    void merge(const known_value& other) {
        parameters.insert(parameters.end(), other.parameters.begin(), other.parameters.end());
        makers.insert(makers.end(), other.makers.begin(), other.makers.end());
        is_input = is_input || other.is_input;
    }
};

/// Follows the calls of an archive from its `forward`, as they would be inlined.
class archive_walker {
public:
    explicit archive_walker(model_record& model) : model_(model) {}

    stemma::captured_operations walk(const torch::jit::Module& root) {
        const auto method = root.get_method("forward");
        std::vector<known_value> arguments(method.graph()->inputs().size());
        for (auto& argument : arguments) {
            argument.is_input = true;
        }
        arguments.front() = {root, {}, {}, false, {}};
        call(*method.graph(), arguments, model_.number_of(root._ivalue().get()));
        return std::move(operations_);
    }

private:
    using graph = torch::jit::Graph;
    using node = torch::jit::Node;
    using scope = std::unordered_map<const torch::jit::Value*, known_value>;

    struct place {
        stemma::id module = 0;
        stemma::id call = 0;
    };

    known_value call(const graph& callee, const std::vector<known_value>& arguments,
                     stemma::id module) {
        return run(callee, arguments, {module, model_.count_call(module)});
    }

    known_value run(const graph& callee, const std::vector<known_value>& arguments, place at) {
        scope values;
        for (std::size_t i = 0; i < callee.inputs().size() && i < arguments.size(); ++i) {
            values[callee.inputs()[i]] = arguments[i];
        }
        walk_block(*callee.block(), values, at);
        return values[callee.outputs().at(0)];
    }

    void walk_block(const torch::jit::Block& block, scope& values, place at) {
        for (const auto* each : block.nodes()) {
            visit(*each, values, at);
        }
    }

    static std::vector<known_value> inputs_of(const node& each, const scope& values,
                                              std::size_t first = 0) {
        std::vector<known_value> inputs;
        for (auto i = first; i < each.inputs().size(); ++i) {
            const auto entry = values.find(each.inputs()[i]);
            inputs.push_back(entry == values.end() ? known_value() : entry->second);
        }
        return inputs;
    }

    void visit(const node& each, scope& values, place at) {
        namespace prim = c10::prim;
        const auto kind = each.kind();
        if (kind == prim::GetAttr) {
            get_attribute(each, values);
        } else if (kind == prim::CallMethod) {
            const auto inputs = inputs_of(each, values);
            if (inputs.front().module) {
                const auto& self = *inputs.front().module;
                const auto method = self.get_method(each.s(c10::attr::name));
                values[each.output()] =
                    call(*method.graph(), inputs, model_.number_of(self._ivalue().get()));
            }
        } else if (kind == prim::CallFunction) {
            const auto type = each.input(0)->type()->expect<c10::FunctionType>();
            values[each.output()] = run(*torch::jit::toGraphFunction(*type->function()).graph(),
                                        inputs_of(each, values, 1), at);
        } else if (kind == prim::TupleUnpack || kind == prim::ListUnpack) {
            const auto whole = inputs_of(each, values).front();
            for (std::size_t i = 0; i < each.outputs().size(); ++i) {
                values[each.outputs()[i]] =
                    whole.parts.size() == each.outputs().size() ? whole.parts[i] : whole;
            }
        } else if (kind == prim::If || kind == prim::Loop) {
            enter_blocks(each, values, at);
        } else if (makes_tensors(kind)) {
            add_operation(each, values, at);
        } else { // numbers, lists, tuples: they come from where their inputs come from
            known_value joined;
            joined.parts = inputs_of(each, values);
            for (const auto& part : joined.parts) {
                joined.merge(part);
            }
            for (const auto* output : each.outputs()) {
                values[output] = joined;
            }
        }
    }

    static bool makes_tensors(c10::Symbol kind) {
        const std::string_view name = kind.toUnqualString();
        return kind.is_aten()
                   ? name != "Int" && name != "Float" && name != "Bool" && name != "IntImplicit" &&
                         name != "FloatImplicit" && name != "ScalarImplicit"
                   : !kind.is_prim();
    }

    void get_attribute(const node& each, scope& values) {
        const auto& self = values[each.input()];
        if (!self.module) {
            return;
        }
        const auto value = self.module->attr(each.s(c10::attr::name));
        known_value output;
        if (value.isModule()) {
            output.module = value.toModule();
        } else if (value.isTensor() && value.toTensor().defined()) {
            output.parameters.push_back(value.toTensor());
        }
        values[each.output()] = std::move(output);
    }

    /// Both branches of an If, and the body of a Loop once.
    void enter_blocks(const node& each, scope& values, place at) {
        const auto inputs = inputs_of(each, values);
        const bool is_loop = each.kind() == c10::prim::Loop;
        for (const auto* block : each.blocks()) {
            for (std::size_t i = 1; is_loop && i < block->inputs().size(); ++i) {
                values[block->inputs()[i]] = inputs[i + 1]; // after trip count and condition
            }
            walk_block(*block, values, at);
            for (std::size_t i = 0; i < each.outputs().size(); ++i) {
                values[each.outputs()[i]].merge(values[block->outputs()[i + (is_loop ? 1 : 0)]]);
            }
        }
    }

    void add_operation(const node& each, scope& values, place at) {
        const auto number = operations_.add({at.module, at.call}, each.kind().toQualString());
        for (const auto& input : inputs_of(each, values)) {
            for (const auto& tensor : input.parameters) {
                operations_.add_parameter(model_.name_of(tensor), tensor.sizes());
            }
            for (const auto maker : input.makers) {
                operations_.add_source(maker);
            }
            if (input.is_input) {
                operations_.add_input();
            }
        }
        for (const auto* output : each.outputs()) {
            values[output].makers = {number};
        }
    }

    model_record& model_;
    stemma::captured_operations operations_;
};

} // namespace detail

/// Returns: the modules of an archive, and its operators in the order in which `forward` runs them,
/// each with the module whose method it stands in. Scopes are lost when an archive is loaded, but
/// the chain of attributes that leads to the object of a call is not.
inline captured_model from_archive(const torch::jit::Module& archive) {
    detail::model_record model(detail::describe(archive));
    auto operations = detail::archive_walker(model).walk(archive);
    return model.finish(std::move(operations), true);
}

} // namespace torch_capture

#endif // STEMMA_EXAMPLES_TORCH_ARCHIVE_HPP
