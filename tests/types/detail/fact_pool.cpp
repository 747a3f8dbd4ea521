// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/fact_pool.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>

#include <set>
#include <vector>

namespace test::types_detail_fact_pool {

namespace d = stemma::detail;

TEST_CASE("fact_pool: equal facts have one number, different ones different numbers",
          "[detail][fact_pool]") {
    const std::vector<d::tensor_facts> different{
        {},
        {d::float_type, {}, {}},
        {d::float_type, d::extents{}, {}},
        {d::float_type, {}, d::extents{}},
        {d::float_type, d::extents{2, 3}, {}},
        {d::float_type, d::extents{3, 2}, {}},
        {d::float_type, d::extents{2}, d::extents{3}},
        {d::int64_type, d::extents{2, 3}, {}},
    };
    d::fact_pool pool;
    CHECK(pool.intern({}) == 0);
    std::set<stemma::id> numbers;
    for (const auto& facts : different) {
        const auto number = pool.intern(facts);
        numbers.insert(number);
        CHECK(pool.intern(facts) == number);
        CHECK(pool[number].data_type == facts.data_type);
        CHECK(pool[number].dims == facts.dims);
        CHECK(pool[number].numbers == facts.numbers);
    }
    CHECK(numbers.size() == different.size());
}

} // namespace test::types_detail_fact_pool
