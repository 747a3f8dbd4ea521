// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PROTO_CHECK_HPP
#define STEMMA_PROTO_CHECK_HPP

#include <stemma/model/detail/operator_domain.hpp>

#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// The verdict of the ONNX checker.
enum class check_verdict : std::uint8_t {
    valid,        ///< it accepts the model
    invalid,      ///< it rejects the model
    cannot_judge, ///< the model is newer than the installed ONNX library
};

/// The result of the ONNX checker.
struct check_result {
    check_verdict verdict = check_verdict::valid; ///< the verdict
    std::string text; ///< why it is not valid, or what is newer than what; else ""
};

namespace detail {

[[nodiscard]] inline std::string newer(const std::string& what, std::int64_t version,
                                       std::int64_t installed) {
    return what + " " + std::to_string(version) +
           " is newer than the installed onnx library, which knows up to " +
           std::to_string(installed);
}

template <class Opsets>
[[nodiscard]] std::optional<std::string> find_newer_opset(const Opsets& opsets) {
    const auto& versions = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
    for (const auto& opset : opsets) {
        const std::string domain(plain_domain(opset.domain()));
        const auto range = versions.find(domain);
        if (range != versions.end() && opset.version() > range->second.second) {
            return newer(domain.empty() ? "opset" : "opset of " + domain, opset.version(),
                         range->second.second);
        }
    }
    return std::nullopt;
}

/// Returns: the first version in a model that is too new for the installed ONNX library, with the
/// known one, if any.
/// Complexity: O(opsets of the model and its functions).
[[nodiscard]] inline std::optional<std::string> find_newer_version(const onnx::ModelProto& model) {
    if (model.ir_version() > onnx::Version::IR_VERSION) {
        return newer("IR version", model.ir_version(), onnx::Version::IR_VERSION);
    }
    if (auto newer = find_newer_opset(model.opset_import())) {
        return newer;
    }
    for (const auto& function : model.functions()) {
        if (auto newer = find_newer_opset(function.opset_import())) {
            return newer;
        }
    }
    return std::nullopt;
}

} // namespace detail

/// Runs the ONNX checker on a model, unless that is too new: on its file, so that external data is
/// found beside it, or without one on the message, and looks such data up in the working folder.
[[nodiscard]] inline check_result check(const onnx::ModelProto& model,
                                        const std::string& path = "") {
    if (auto newer = detail::find_newer_version(model)) {
        return {check_verdict::cannot_judge, std::move(*newer)};
    }
    try {
        path.empty() ? onnx::checker::check_model(model) : onnx::checker::check_model(path);
    } catch (const std::exception& refusal) {
        return {check_verdict::invalid, refusal.what()};
    }
    return {};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PROTO_CHECK_HPP
