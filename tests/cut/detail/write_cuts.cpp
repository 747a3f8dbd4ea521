// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/write_cuts.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../scratch_folder.hpp"

#include <stemma/core/parallel.hpp>
#include <stemma/cut/detail/boundary_types.hpp>
#include <stemma/cut/detail/random_nodes.hpp>
#include <stemma/error.hpp>
#include <stemma/model/detail/module_members.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/value_types.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace test::cut_detail_write_cuts {

namespace {

using stemma::id;

/// A model with all that it takes to cut all of its modules out.
struct scene {
    stemma::attributed_model opened;
    stemma::detail::module_members members;
    stemma::cut_planner<> planner;
    stemma::value_types types;
    stemma::detail::cut_writer<> writer;

    explicit scene(const std::string& path)
        : opened(path, {})
        , members(opened.modules().index(), opened.tags().attributions)
        , planner(opened.model(), {stemma::dependence::weight, stemma::gap_rule::runs},
                  stemma::detail::find_random_nodes(opened.model()))
        , types(opened.model())
        , writer(opened.model(), planner.contents(), types) {
        stemma::detail::infer_shapes(opened.model(), types);
    }

    [[nodiscard]] std::size_t size() const { return opened.modules().size(); }
};

/// Cuts out every module; request `failing`, if there is one, cannot be answered.
struct all_modules {
    scene& from;
    std::string folder;
    stemma::detail::weight_store* store = nullptr;
    std::size_t failing = SIZE_MAX;
    std::vector<std::string> asked{};
    std::vector<std::string> heard{};

    [[nodiscard]] stemma::detail::cut_request request(std::size_t i) const {
        return {from.members.all(static_cast<id>(i)), {}};
    }

    [[nodiscard]] std::string file(std::size_t i, std::size_t part) const {
        return folder + "/" + std::to_string(i) + "." + std::to_string(part);
    }

    stemma::detail::cut_target target(std::size_t i, std::size_t part,
                                      std::vector<stemma::cut_plan>& plans) {
        asked.push_back(file(i, part));
        if (i == failing) {
            throw std::runtime_error("failing");
        }
        auto& plan = plans[part];
        if (plan.refusal == stemma::cut_refusal::none &&
            stemma::detail::find_untyped(plan, from.types)) {
            plan.refusal = stemma::cut_refusal::unknown_type;
        }
        return plan.refusal == stemma::cut_refusal::none
                   ? stemma::detail::cut_target{file(i, part), "part " + std::to_string(part),
                                                store,
                                                i % 2 == 0
                                                    ? stemma::output_file::target_state::absent
                                                    : stemma::output_file::target_state::unknown}
                   : stemma::detail::cut_target{};
    }

    void save() const {}

    void done(std::size_t i, std::size_t part, const stemma::cut_plan& plan) {
        const bool written = plan.refusal == stemma::cut_refusal::none;
        heard.push_back((written ? "wrote " : "refused ") + file(i, part));
        CHECK(std::filesystem::exists(file(i, part)) == written);
    }
};

std::map<std::string, std::string> files_in(const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        files[entry.path().filename().string()] =
            entry.is_directory() ? "folder"
                                 : std::string(stemma::mapped_file(entry.path().string()).bytes());
    }
    return files;
}

/// Returns: what `cut_all` writes, made one after the other.
std::map<std::string, std::string> made_one_by_one(scene& from,
                                                   stemma::detail::weight_store& store) {
    std::map<std::string, std::string> files;
    all_modules job{from, "."};
    for (std::size_t i = 0; i < from.size(); ++i) {
        auto plans = from.planner.plan(job.request(i).nodes);
        for (std::size_t p = 0; p < plans.size(); ++p) {
            if (const auto target = job.target(i, p, plans); !target.path.empty()) {
                stemma::detail::string_splice splice(from.opened.file().bytes());
                from.writer.build(plans[p], target.origin, &store).write(splice);
                files[target.path.substr(2)] = splice.text;
            }
        }
    }
    return files;
}

} // namespace

TEST_CASE("write_cuts: files and order of events do not depend on the number of threads",
          "[onnx][write_cuts]") {
    for (const auto* name : {"bert_micro_12l/model.onnx", "control_flow/model.onnx"}) {
        scene from(test::fixture(name));
        const auto new_store = [&](auto& store) {
            store.emplace(from.opened.model(), from.opened.file(), "weights.bin");
        };
        std::optional<stemma::detail::weight_store> store;
        new_store(store);
        const auto expected = made_one_by_one(from, *store);
        REQUIRE(expected.size() > 5);
        std::vector<std::string> asked;
        std::vector<std::string> heard;
        std::string weights;
        for (const unsigned most : {1U, 2U, 5U}) {
            const stemma::thread_scope threads({most});
            const test::scratch_folder folder;
            new_store(store);
            all_modules job{from, folder.path(), &*store};
            stemma::detail::write_cuts(from.opened.file(), from.planner, from.writer, job,
                                       from.size(), false);
            CHECK(files_in(folder.path()) == expected);
            const auto file = folder.make("weights.bin", "");
            store->save(file, false);
            store->commit(false);
            const std::string bytes(stemma::mapped_file(file).bytes());
            for (auto* lines : {&job.asked, &job.heard}) {
                for (auto& line : *lines) {
                    line.erase(line.find(folder.path()), folder.path().size());
                }
            }
            if (most == 1) {
                asked = job.asked;
                heard = job.heard;
                weights = bytes;
            }
            CHECK(job.asked == asked);
            CHECK(job.heard == heard);
            CHECK(bytes == weights);
        }
    }
}

TEST_CASE("write_cuts: an error leaves only the parts before it", "[onnx][write_cuts]") {
    scene from(test::fixture("bert_micro_12l/model.onnx"));
    const test::scratch_folder whole;
    all_modules all{from, whole.path()};
    stemma::detail::write_cuts(from.opened.file(), from.planner, from.writer, all, from.size(),
                               false);
    const auto expected = files_in(whole.path());
    for (std::size_t failing : {std::size_t{0}, from.size() / 2, from.size() - 1}) {
        for (const unsigned most : {1U, 4U}) {
            const stemma::thread_scope threads({most});
            for (const bool in_the_way : {false, true}) {
                const test::scratch_folder folder;
                all_modules job{from, folder.path()};
                auto before = expected;
                if (in_the_way) { // a folder where the file has to go
                    auto first = before.lower_bound(std::to_string(failing) + ".0");
                    if (first == before.end() || first->first != std::to_string(failing) + ".0") {
                        continue; // it has no part
                    }
                    std::filesystem::create_directory(job.file(failing, 0));
                    CHECK_THROWS_AS(stemma::detail::write_cuts(from.opened.file(), from.planner,
                                                               from.writer, job, from.size(),
                                                               false),
                                    stemma::error);
                } else {
                    job.failing = failing;
                    const bool has_parts = !from.planner.plan(job.request(failing).nodes).empty();
                    if (!has_parts) {
                        continue;
                    }
                    CHECK_THROWS_AS(stemma::detail::write_cuts(from.opened.file(), from.planner,
                                                               from.writer, job, from.size(),
                                                               false),
                                    std::runtime_error);
                }
                for (auto entry = before.begin(); entry != before.end();) {
                    const auto at = std::stoul(entry->first);
                    entry = at >= failing ? before.erase(entry) : std::next(entry);
                }
                if (in_the_way) {
                    before[std::to_string(failing) + ".0"] = "folder";
                }
                CHECK(files_in(folder.path()) == before);
            }
        }
    }
}

} // namespace test::cut_detail_write_cuts
