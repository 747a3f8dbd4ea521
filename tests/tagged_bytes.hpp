// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_TAGGED_BYTES_HPP
#define STEMMA_TESTS_TAGGED_BYTES_HPP

#include <stemma/core/policies.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/evidence_sources.hpp>
#include <stemma/evidence/function_calls.hpp>
#include <stemma/evidence/hierarchy_metadata.hpp>
#include <stemma/evidence/leftovers.hpp>
#include <stemma/evidence/parameter_names.hpp>
#include <stemma/evidence/parameter_regions.hpp>
#include <stemma/evidence/rebuild_tree.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/detail/structure_digest.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/write_tagged.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/tagging/tagger.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace test {

/// A model in memory with the tags of its nodes.
class tagged_model {
public:
    /// Without a capture the tree is derived from the model itself. `bytes` must outlive this.
    explicit tagged_model(std::string_view bytes, const stemma::module_tree* capture = nullptr)
        : model(bytes, "model")
        , ops(model)
        , rebuilt(capture == nullptr ? std::optional(stemma::rebuild_tree(ops)) : std::nullopt)
        , modules(capture == nullptr ? rebuilt->modules : *capture)
        , from_model(capture == nullptr) {
        stemma::evidence_context<operators, stemma::module_tree> context(
            ops, modules, rebuilt ? std::move(rebuilt->facts) : stemma::detail::evidence_facts());
        const stemma::evidence_sources<stemma::exporter_metadata, stemma::builder_metadata,
                                       stemma::function_calls, stemma::scope_names,
                                       stemma::parameter_names, stemma::parameter_regions,
                                       stemma::leftovers>
            sources;
        found = stemma::tag_operators(context, stemma::policies{sources});
    }
    tagged_model(const tagged_model&) = delete;
    tagged_model& operator=(const tagged_model&) = delete;

    /// Returns: the tagged file.
    [[nodiscard]] std::string write(const stemma::carrier_set& carriers) {
        stemma::detail::model_record record;
        record.carriers = carriers;
        record.describe(model.node_count(), digests());
        record.from_model = from_model;
        auto editor = stemma::detail::make_tag_editor(
            model, modules, found, [&](const stemma::carrier_set&) { return record; }, carriers);
        return apply(editor);
    }

    /// Returns: the result of an editor on this file.
    template <class Editor>
    [[nodiscard]] std::string apply(Editor& editor) const {
        stemma::detail::rewrite plan(model, editor);
        stemma::detail::string_splice out(model.bytes());
        plan.write(out);
        if (static_cast<std::int64_t>(out.text.size()) != plan.size()) {
            throw std::logic_error("the plan promised another size than it wrote");
        }
        return std::move(out.text);
    }

    using operators = stemma::onnx_operators<stemma::wire_model>;

    [[nodiscard]] stemma::detail::model_digests digests() {
        if (!digests_) {
            digests_ = stemma::detail::find_digests(model);
        }
        return *digests_;
    }

    stemma::wire_model model;
    operators ops;
    std::optional<stemma::rebuilt_tree> rebuilt;
    stemma::module_tree modules;
    bool from_model;
    stemma::tagging found;

private:
    std::optional<stemma::detail::model_digests> digests_;
};

inline std::string tag(std::string_view bytes, const stemma::carrier_set& carriers,
                       const stemma::module_tree* capture = nullptr) {
    return tagged_model(bytes, capture).write(carriers);
}

inline std::string strip(std::string_view bytes) {
    const stemma::wire_model model(bytes, "model");
    stemma::detail::strip_editor editor(model);
    stemma::detail::rewrite plan(model, editor);
    stemma::detail::string_splice out(bytes);
    plan.write(out);
    return std::move(out.text);
}

/// The number of combinations of carriers.
inline constexpr unsigned carrier_sets = 64;

/// Returns: combination number `i` of the carriers.
inline stemma::carrier_set carriers_of(unsigned i) {
    return {(i & 1U) != 0, (i & 2U) != 0,  (i & 4U) != 0,
            (i & 8U) != 0, (i & 16U) != 0, (i & 32U) != 0};
}

} // namespace test

#endif // STEMMA_TESTS_TAGGED_BYTES_HPP
