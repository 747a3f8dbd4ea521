// SPDX-License-Identifier: Apache-2.0
#include "onnx_library.hpp"

#include "child_program.hpp"
#include "onnx_protocol.hpp"

#include <stemma/types/types_by_name.hpp>

#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace cli {

namespace {

namespace protocol = onnx_protocol;

/// Returns: the path of `stemma-onnx`; "" if there is none.
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

/// Returns: the answer of `stemma-onnx` to a question, or a problem.
child_answer ask(std::vector<std::string> question, std::string_view input) {
    static const auto program = find_program();
    if (program.empty()) {
        return {"", std::nullopt,
                "stemma-onnx is not beside this program: build it with "
                "-DSTEMMA_WITH_ONNX=ON, or install the package stemma",
                false};
    }
    question.insert(question.begin(), std::to_string(protocol::version));
    auto answer = run_child(program, std::move(question), input);
    if (!answer.status) {
        answer.problem = "the onnx library " + answer.problem;
    } else if (*answer.status == protocol::another_version) {
        answer.problem = "stemma-onnx was built for another version of this program";
    } else if (*answer.status >= protocol::failed) {
        answer.problem = "the onnx library exited without an answer";
    }
    return answer;
}

/// Consumes the first bytes of a text.
///
/// Returns: them, or nothing if there are fewer.
std::string_view take(std::string_view& text, std::size_t size) {
    const auto part = text.substr(0, size);
    text.remove_prefix(part.size());
    return part.size() == size ? part : std::string_view();
}

} // namespace

std::string add_inferred_types(const stemma::wire_model& model, stemma::value_types& types) {
    stemma::types_by_name inferred(model, types);
    const auto answer = ask({"infer"}, inferred.model_to_infer());
    if (!answer.problem.empty()) {
        return answer.problem;
    }
    std::string_view rest = answer.text;
    for (;;) {
        protocol::type_record record{};
        const auto bytes = take(rest, sizeof record);
        if (bytes.empty()) {
            return "the onnx library exited without an answer";
        }
        std::memcpy(&record, bytes.data(), sizeof record);
        const auto name = take(rest, record.name_size);
        const auto type = take(rest, record.type_size);
        if (rest.empty()) {
            return std::string(name);
        }
        inferred.add(record.graph, name, type);
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
