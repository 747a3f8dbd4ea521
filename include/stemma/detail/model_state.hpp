// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_DETAIL_MODEL_STATE_HPP
#define STEMMA_DETAIL_MODEL_STATE_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/core/detail/made_once.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model.hpp>
#include <stemma/model/detail/module_members.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/detail/find_weights.hpp>
#include <stemma/onnx/detail/value_readers.hpp>
#include <stemma/onnx/detail/weight_places.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/detail/value_tags.hpp>
#include <stemma/types/value_descriptions.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The weights of a model and their modules.
struct placed_weights {
    std::vector<stored_weight> weights;
    weight_places places;
};

/// What handles refer to.
struct model_state {
    template <class... Arguments>
    explicit model_state(Arguments&&... arguments)
        : opened(std::forward<Arguments>(arguments)...) {}

    [[nodiscard]] static model open(std::unique_ptr<model_state> state) {
        return model(std::move(state));
    }

    [[nodiscard]] const wire_model& file() const noexcept { return opened.model(); }
    [[nodiscard]] const module_tree& modules() const noexcept { return opened.modules(); }
    [[nodiscard]] const tagging& tags() const noexcept { return opened.tags(); }

    [[nodiscard]] const detail::grouped_ids& readers() const {
        return readers_.get([&] { return detail::value_readers(file()); });
    }

    [[nodiscard]] const detail::module_members& members() const {
        return members_.get(
            [&] { return detail::module_members(modules().index(), tags().attributions); });
    }

    [[nodiscard]] const placed_weights& weights() const {
        return weights_.get([&] {
            auto weights = find_weights(file());
            auto places = detail::place_weights(file(), modules(), tags(), weights);
            return placed_weights{std::move(weights), std::move(places)};
        });
    }

    [[nodiscard]] const detail::value_tags& value_tags() const {
        return value_tags_.get([&] { return detail::find_value_tags(file(), modules(), tags()); });
    }

    [[nodiscard]] const value_descriptions& types() const {
        return *types_.get([&] { return std::make_unique<const value_descriptions>(file()); });
    }

    attributed_model opened;

private:
    made_once<detail::grouped_ids> readers_;
    made_once<detail::module_members> members_;
    made_once<placed_weights> weights_;
    made_once<detail::value_tags> value_tags_;
    made_once<std::unique_ptr<const value_descriptions>> types_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_DETAIL_MODEL_STATE_HPP
