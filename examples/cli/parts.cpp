// SPDX-License-Identifier: Apache-2.0
#include "parts.hpp"

#include "onnx_library.hpp"

#include <stemma/core/hash.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/definitions.hpp>
#include <stemma/onnx/wire/cut_obstacles.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <system_error>

namespace cli {

namespace fs = std::filesystem;
using stemma::id;

namespace {

std::string folded(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
}

} // namespace

fs::path folder_of(const fs::path& path) {
    return fs::absolute(path).parent_path().lexically_normal();
}

void make_folder(const std::string& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (!fs::is_directory(folder)) {
        throw stemma::error(stemma::error_code::cannot_write, folder, "",
                            failed ? failed.message() : "is no folder");
    }
}

void check_replaceable(const std::string& path, bool force) {
    if (!force && fs::exists(path)) {
        throw stemma::error(stemma::error_code::cannot_write, path, "",
                            "exists already; --force replaces it");
    }
}

std::string node_name(const stemma::onnx_model& model, id node) {
    return model.name(node).empty() ? fmt::format("#{}", model.position(node))
                                    : std::string(model.name(node));
}

std::string as_file_name(std::string_view text) {
    constexpr std::size_t longest = 180;
    constexpr std::string_view hex = "0123456789abcdef";
    std::string name;
    for (char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
        if (plain) {
            name.push_back(c);
        } else if (c == '/') {
            if (!name.empty()) {
                name.push_back('-');
            }
        } else {
            const auto byte = static_cast<unsigned char>(c);
            name.append("%").append(1, hex[byte >> 4U]).append(1, hex[byte & 15U]);
        }
    }
    if (name.size() > longest) {
        const auto hash = stemma::hash_bytes(name);
        name.resize(longest - 17);
        name.push_back('~');
        for (unsigned shift = 0; shift < 64; shift += 4) {
            name.push_back(hex[hash >> shift & 15U]);
        }
    }
    if (name.empty() || name.front() == '.') {
        name.insert(name.begin(), '_');
    }
    return name;
}

std::string file_namer::name(const stemma::attributed_model& opened, id module, std::size_t part,
                             std::size_t parts) {
    const auto& tags = opened.tags().tags;
    auto text = tags.text(module);
    if (!tags.is_selected(module)) {
        text.append(".").append(opened.modules().path(module));
    }
    auto base = as_file_name(text);
    if (parts > 1) {
        base += fmt::format(".{}", part);
    }
    auto candidate = base;
    for (std::size_t i = 2; !used_.insert(folded(candidate)).second; ++i) {
        candidate = fmt::format("{}~{}", base, i);
    }
    return candidate + ".onnx";
}

void boundary_types::prepare(bool many) {
    if (!inference_ && model_.value_infos().size() < model_.value_count() / 2) {
        inference_.emplace(model_, types_);
        if (many) {
            inference_->look_at_all();
        }
    }
}

std::optional<id> boundary_types::find_untyped(const stemma::cut_plan& plan) {
    const auto infer = [&] {
        if (!inference_) {
            inference_.emplace(model_, types_);
        }
        for (const auto* values : {&plan.inputs, &plan.outputs}) {
            for (auto value : *values) {
                inference_->find(value);
            }
        }
        return stemma::find_untyped(plan, types_);
    };
    auto untyped = stemma::find_untyped(plan, types_);
    if (untyped) {
        untyped = infer();
    }
    if (untyped && !asked_library_) {
        asked_library_ = true;
        problem_ = add_inferred_types(model_, types_);
        inference_.reset(); // what the library knows may be all that was missing
        untyped = infer();
    }
    return untyped;
}

std::string boundary_types::refuse_unknown(stemma::cut_plan& plan,
                                           const stemma::graph_contents& contents) {
    if (plan.refusal != stemma::cut_refusal::none) {
        return {};
    }
    if (const auto redefined = stemma::find_redefined(plan, model_, contents)) {
        plan.refusal = stemma::cut_refusal::redefined;
        return fmt::format("'{}' is defined more than once, by {}", model_.value_name(*redefined),
                           stemma::definers_text(model_, *redefined));
    }
    if (const auto unbound = stemma::find_unbound(plan, model_, contents)) {
        plan.refusal = stemma::cut_refusal::function_body;
        return fmt::format("'{}' has an attribute that only a call of the function binds; unfold "
                           "the model first",
                           node_name(model_, *unbound));
    }
    if (const auto untyped = find_untyped(plan)) {
        plan.refusal = stemma::cut_refusal::unknown_type;
        return fmt::format("type or rank of '{}' is not known{}{}", model_.value_name(*untyped),
                           problem_.empty() ? "" : ": ", problem_);
    }
    return {};
}

} // namespace cli
