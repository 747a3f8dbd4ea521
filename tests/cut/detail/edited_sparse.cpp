// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/edited_sparse.hpp>

#include "../../catch.hpp"
#include "../../scratch_folder.hpp"
#include "../../split_scene.hpp"
#include "../../wire_builder.hpp"

#include <stemma/error.hpp>

#include <string>
#include <string_view>

namespace test::cut_detail_edited_sparse {

namespace {

test::message sparse(std::string_view name, std::string_view data) {
    return test::message()
        .inner(1, test::tensor(name, {1}, data))
        .inner(2, test::tensor("", {1}, "iiii"))
        .number(3, 4);
}

/// A model in two parts that share the sparse `s`.
struct scene {
    test::scratch_folder made;

    scene() {
        auto graph = test::graph({test::node("Add", {"x", "s"}, {"a"}, "n1"),
                                  test::node("Mul", {"a", "s"}, {"y"}, "n2")},
                                 {"x"}, {"y"});
        graph.inner(15, sparse("s", "ssss"));
        test::split_scene split(made.make("model.onnx", test::model(graph).bytes()));
        split.write(split.planner.divide(stemma::balanced_parts{2}), made.path());
    }

    void edit(int p, const std::string& data) const {
        const auto name = std::to_string(p) + ".onnx";
        auto bytes = test::read_bytes(made.file(name));
        static_cast<void>(made.make(name, bytes.replace(bytes.find("ssss"), 4, data)));
    }

    /// Returns: `s` in the joined graph.
    [[nodiscard]] std::string joined() const {
        const stemma::detail::split_folder folder(made.path());
        const stemma::detail::edited_sparse sparse(folder);
        CHECK_FALSE(sparse.contains("x"));
        REQUIRE(sparse.contains("s"));
        stemma::detail::message_tree graph;
        sparse.append("s", graph);
        std::string text;
        graph.for_each(
            [&](stemma::id file, std::uint64_t begin, std::uint64_t size) {
                const auto bytes = stemma::detail::split_files::at(folder, file).bytes();
                text.append(bytes.substr(begin, size));
            },
            [&](std::string_view more) { text.append(more); });
        return text;
    }
};

} // namespace

TEST_CASE("edited_sparse: one that all parts with it change is changed", "[onnx][edited_sparse]") {
    const scene s;
    const auto with = [](std::string_view data) {
        return test::message().inner(15, sparse("s", data)).bytes();
    };
    CHECK(s.joined() == with("ssss"));
    s.edit(0, "SSSS");
    CHECK_THROWS_WITH(s.joined(), Catch::Contains("0.onnx: its initializer 's' differs from"));
    s.edit(1, "SSSS");
    CHECK(s.joined() == with("SSSS"));
}

TEST_CASE("edited_sparse: new ones are refused", "[onnx][edited_sparse]") {
    const scene s;
    const auto more = test::message().inner(7, test::message().inner(15, sparse("n", "nnnn")));
    static_cast<void>(
        s.made.make("1.onnx", test::read_bytes(s.made.file("1.onnx")) + more.bytes()));
    CHECK_THROWS_WITH(s.joined(), Catch::Contains("1.onnx: adds the sparse initializer 'n'"));
}

} // namespace test::cut_detail_edited_sparse
