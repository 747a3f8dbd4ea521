// SPDX-License-Identifier: Apache-2.0
#include "onnx_library.hpp"

#include "child_program.hpp"
#include "onnx_protocol.hpp"

#include <stemma/onnx/wire/message_edits.hpp>
#include <stemma/onnx/wire/rewrite.hpp>

#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace cli {

namespace {

using stemma::id;
namespace protocol = onnx_protocol;

/// Returns: where the program stands that is linked with the ONNX library; "" when there is none.
std::string find_program() {
    std::error_code ignored;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const auto& folder : {own, own / ".." / "libexec" / "stemma"}) {
        const auto path = folder / "stemma-onnx";
        if (std::filesystem::exists(path, ignored)) {
            return path.string();
        }
    }
    return "";
}

/// Returns: what `stemma-onnx` answers to a question; a problem is told when it has no answer.
child_answer ask(std::vector<std::string> question, std::string_view input) {
    static const auto program = find_program();
    if (program.empty()) {
        return {"", std::nullopt,
                "stemma-onnx, which asks the onnx library, is not beside this program"};
    }
    question.insert(question.begin(), std::to_string(protocol::version));
    auto answer = run_child(program, std::move(question), input);
    if (!answer.status) {
        answer.problem = "the onnx library " + answer.problem;
    } else if (*answer.status == protocol::another_version) {
        answer.problem = "stemma-onnx was built for another version of this program";
    } else if (*answer.status >= protocol::failed) {
        answer.problem = "the onnx library ended without an answer";
    }
    return answer;
}

/// Takes the data out of large initializers: types do not need them.
class weight_remover {
public:
    explicit weight_remover(const stemma::wire_model& model) : model_(&model) {}

    void edit_node(id, stemma::message_edits&) const {}
    void edit_value_info(const stemma::value_info_ref&, stemma::message_edits&) const {}
    void edit_model(stemma::message_edits&) const {}

    void edit_tensor(const stemma::tensor_ref& tensor, stemma::message_edits& edits) const {
        constexpr std::uint32_t large = 4096;
        auto fields = model_->reader(tensor.message);
        for (stemma::wire_field field; fields.next(field);) {
            if (field.is_bytes(stemma::detail::onnx_fields::tensor::raw_data) &&
                field.size() > large) {
                edits.remove(field.begin, field.end);
            }
        }
    }

private:
    const stemma::wire_model* model_;
};

std::string without_weights(const stemma::wire_model& model) {
    weight_remover editor(model);
    stemma::rewrite plan(model, editor);
    stemma::string_splice light(model.bytes());
    plan.write(light);
    return std::move(light.text);
}

/// Takes the first bytes of a text away.
///
/// Returns: them, or nothing when there are fewer.
std::string_view take(std::string_view& text, std::size_t size) {
    const auto taken = text.substr(0, size);
    text.remove_prefix(taken.size());
    return taken.size() == size ? taken : std::string_view();
}

} // namespace

std::string add_inferred_types(const stemma::wire_model& model, stemma::value_types& types) {
    const auto answer = ask({"infer"}, without_weights(model));
    if (!answer.problem.empty()) {
        return answer.problem;
    }
    std::map<std::pair<id, std::string_view>, id> values;
    for (id value = 0; value < model.value_count(); ++value) {
        values.emplace(std::pair(model.graph_of_value(value), model.value_name(value)), value);
    }
    std::vector<id> graphs;
    for (id g = 0; g < model.graph_count(); ++g) {
        if (model.graph(g).kind != stemma::graph_kind::function) {
            graphs.push_back(g);
        }
    }
    std::string_view left = answer.text;
    for (;;) {
        protocol::type_record record{};
        const auto bytes = take(left, sizeof record);
        if (bytes.empty()) {
            return "the onnx library ended without an answer";
        }
        std::memcpy(&record, bytes.data(), sizeof record);
        const auto name = take(left, record.name_size);
        const auto type = take(left, record.type_size);
        if (left.empty()) {
            return std::string(name);
        }
        if (record.graph < graphs.size()) {
            if (const auto found = values.find({graphs[record.graph], name});
                found != values.end()) {
                types.add(found->second, std::string(type));
            }
        }
    }
}

check_answer check_with_onnx(const stemma::wire_model& model) {
    using verdict = check_answer::verdict;
    const auto answer = ask({"check", model.file()}, "");
    if (!answer.problem.empty()) {
        return {verdict::cannot_judge, answer.problem};
    }
    return {*answer.status == protocol::valid     ? verdict::valid
            : *answer.status == protocol::invalid ? verdict::invalid
                                                  : verdict::cannot_judge,
            answer.text};
}

} // namespace cli
