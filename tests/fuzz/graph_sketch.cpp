// SPDX-License-Identifier: Apache-2.0
// Sketches of graphs: the JSON of `pkg.stemma.graph`, or its texts as lines, of which the first
// holds types with tabs between them, the second nodes and the third modules.
#include <stemma/record/detail/graph_sketch.hpp>

#include "fuzz.hpp"

#include <stemma/core/id.hpp>
#include <stemma/record/detail/sketch_lookup.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace {

using stemma::id;
using stemma::no_id;
using stemma::detail::graph_sketch;

constexpr std::size_t modules = 8;
// Neighbours are searched from so many nodes.
constexpr id looked_at = 16;

void check(const graph_sketch& sketch) {
    for (id node = 0; node < sketch.node_count(); ++node) {
        fuzz::demand(stemma::detail::range::contains(sketch.types(), sketch.type(node)),
                     "a node has no type");
        fuzz::demand(sketch.of(node).module < modules, "a node is of no module");
        for (const auto from : sketch.read_from(node)) {
            fuzz::demand(from == graph_sketch::given || from < sketch.node_count(),
                         "a node reads from none");
        }
    }
}

void look_up(const graph_sketch& sketch) {
    const stemma::detail::sketch_lookup lookup(sketch);
    for (id node = 0; node < sketch.node_count(); ++node) {
        for (const auto reader : lookup.readers(node)) {
            const auto from = sketch.read_from(reader);
            fuzz::demand(std::find(from.begin(), from.end(), node) != from.end(),
                         "a reader does not read");
        }
        const auto only = lookup.only_reader(node);
        fuzz::demand(only == no_id || lookup.readers(node).front() == only,
                     "the only reader is none");
        const id others[] = {node};
        fuzz::demand(node >= looked_at || lookup.is_near(node, others),
                     "a node is far from itself");
    }
    for (const auto* name : {"a", "b_out", "b_out_nchwc", "b_out_token_12"}) {
        for (const auto maker : {lookup.maker_of(name), lookup.maker_within(name)}) {
            fuzz::demand(maker == no_id || maker < sketch.node_count(), "a maker is no node");
        }
    }
}

bool is_same(const graph_sketch& a, const graph_sketch& b) {
    if (a.node_count() != b.node_count()) {
        return false;
    }
    for (id node = 0; node < a.node_count(); ++node) {
        if (!(a.of(node) == b.of(node)) || !ranges::equal(a.made(node), b.made(node)) ||
            !ranges::equal(a.read_from(node), b.read_from(node))) {
            return false;
        }
    }
    return true;
}

/// A sketch in lines; one that can be read is stored as JSON and read back.
std::optional<graph_sketch> read_lines(std::string_view text) {
    const auto lines = fuzz::split(text, '\n');
    if (lines.size() < 3) {
        return std::nullopt;
    }
    graph_sketch::texts stored;
    for (const auto type : fuzz::split(lines[0], '\t')) {
        stored.types.emplace_back(type);
    }
    stored.nodes = lines[1];
    stored.modules = lines[2];
    auto sketch = graph_sketch::read(stored, modules);
    if (sketch) {
        const auto again = stemma::detail::read_sketch(stemma::detail::to_json(stored), modules);
        fuzz::demand(again && is_same(*again, *sketch), "what was stored is read otherwise");
    }
    return sketch;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto sketch =
        text.substr(0, 1) == "{" ? stemma::detail::read_sketch(text, modules) : read_lines(text);
    if (sketch) {
        check(*sketch);
        look_up(*sketch);
    }
    return 0;
}
