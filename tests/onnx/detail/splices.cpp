// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/splices.hpp>

#include "../../catch.hpp"
#include "../../scratch_folder.hpp"

#include <stemma/io/json_writer.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace test::onnx_detail_splices {

namespace {

constexpr std::string_view source = "0123456789";
constexpr std::string_view expected = "234new89end";

template <stemma::detail::splice_sink Sink>
void splice(Sink& sink) {
    sink.copy(2, 3);
    sink.write("new");
    sink.copy(8, 2);
    sink.write("");
    sink.copy(0, 0);
    sink.write("end");
}

} // namespace

TEST_CASE("splices: all sinks produce the same from the same calls") {
    const test::scratch_folder folder;
    const stemma::mapped_file file(folder.make("in", source));
    stemma::detail::string_splice text(source, "what was there");
    splice(text);
    CHECK(text.text == expected);
    stemma::string_sink views;
    stemma::detail::view_splice in_views(source, views);
    splice(in_views);
    CHECK(views.text == expected);
    {
        stemma::output_file out(folder.file("whole"));
        stemma::detail::file_splice sink(file, out);
        splice(sink);
        out.commit(false);
    }
    CHECK(stemma::mapped_file(folder.file("whole")).bytes() == expected);
    stemma::output_file out(folder.file("ranges"));
    if (out.takes_ranges()) {
        stemma::detail::range_splice sink(file, out, expected.size());
        splice(sink);
        sink.move_to(0);
        splice(sink);
        sink.finish();
        out.commit(false);
        CHECK(stemma::mapped_file(folder.file("ranges")).bytes() ==
              std::string(expected) + std::string(expected));
    }
}

TEST_CASE("splices: a string's memory is reused") {
    std::string buffer(1000, 'x');
    const auto* memory = buffer.data();
    stemma::detail::string_splice sink(source, std::move(buffer));
    splice(sink);
    CHECK(sink.text.data() == memory);
}

} // namespace test::onnx_detail_splices
