// SPDX-License-Identifier: Apache-2.0
#include <stemma/numerics/detail/npy.hpp>

#include "../../catch.hpp"
#include "../../refusal.hpp"

#include <stemma/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::numerics_detail_npy {

namespace {

std::string npy(const std::string& header, const std::string& elements, char version = 1) {
    std::string text = "\x93NUMPY";
    text.push_back(version);
    text.push_back('\0');
    text.push_back(static_cast<char>(header.size()));
    text.push_back('\0');
    if (version > 1) {
        text.append(2, '\0');
    }
    return text + header + elements;
}

std::string why_refused(const std::string& bytes) {
    return test::refusal([&] { return stemma::detail::read_npy(bytes, "a.npy"); }).what();
}

} // namespace

TEST_CASE("npy: written headers round-trip", "[numerics][npy]") {
    for (const std::int64_t type : {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16}) {
        for (const std::vector<std::int64_t>& dims :
             {std::vector<std::int64_t>{}, {3}, {2, 0, 5}, {1, 2, 3}}) {
            INFO(type);
            const auto header = stemma::detail::npy_header(type, dims);
            CHECK(header.size() % 64 == 0);
            std::size_t count = 1;
            for (const auto dim : dims) {
                count *= static_cast<std::size_t>(dim);
            }
            const auto bytes =
                header + std::string(count * stemma::detail::layout_of(type)->bytes, '\1');
            const auto read = stemma::detail::read_npy(bytes, "a.npy");
            CHECK(read.data_type() == type);
            CHECK(read.dims() == dims);
        }
    }
    CHECK(stemma::detail::npy_header(8, {}).empty());
}

TEST_CASE("npy: reads headers as printed by Python", "[numerics][npy]") {
    const std::string four(4, '\0');
    for (const auto* header : {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n",
                               "{'shape': (), 'descr': '|f4', 'fortran_order': False}",
                               "{\"descr\":\"f4\",\"fortran_order\":True,\"shape\":(1L,1)}"}) {
        INFO(header);
        CHECK(stemma::detail::read_npy(npy(header, four), "a.npy").size() == 1);
        CHECK(stemma::detail::read_npy(npy(header, four, 2), "a.npy").size() == 1);
    }
}

TEST_CASE("npy: rejects unreadable files with a reason", "[numerics][npy]") {
    CHECK(why_refused("") == "a.npy: is not .npy data");
    CHECK(why_refused(npy("{}", "")) == "a.npy: the header has no type or no shape");
    CHECK(why_refused(npy("{'descr': '<U5', 'fortran_order': False, 'shape': (1,)}", "")) ==
          "a.npy: elements of type '<U5' are not supported");
    CHECK(why_refused(npy("{'descr': [('a', '<f4')], 'shape': (1,)}", "")) ==
          "a.npy: structured records are not supported");
    CHECK(why_refused(npy("{'descr': '<f4', 'shape': (2,)}", "1234")) ==
          "a.npy: the shape [2] does not fit 4 bytes of elements");
    for (const auto* header :
         {"", "{", "{'descr'", "{'descr': '<f4'", "{'descr': '<f4', 'shape': (",
          "{'descr': '<f4', 'shape': (1 2)}", "{'descr': '<f4', 'shape': (-1,)}",
          "{'descr': '', 'shape': ()}", "{'other': 1}"}) {
        INFO(header);
        CHECK_FALSE(why_refused(npy(header, "")).empty());
    }
    auto cut = npy("{'descr': '<f4', 'shape': ()}", "");
    cut.resize(20);
    CHECK_FALSE(why_refused(cut).empty());
}

} // namespace test::numerics_detail_npy
