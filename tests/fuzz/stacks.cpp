// SPDX-License-Identifier: Apache-2.0
// Call stacks as exporters write them, and what a file keeps of them: names that a terminal can
// show, or nothing.
#include "fuzz.hpp"

#include <stemma/evidence/detail/file_shortener.hpp>
#include <stemma/evidence/detail/stack_formats.hpp>
#include <stemma/record/detail/recorded_sources.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

void use(std::string_view text) {
    std::vector<stemma::detail::told_frame> frames;
    const auto* format = stemma::detail::read_stack(text, frames);
    fuzz::demand((format == nullptr) == frames.empty(), "a stack without frames");
    const stemma::any_policy<stemma::frames_category> policy;
    stemma::source_lines lines;
    auto chain = stemma::no_id;
    std::vector<std::string> files;
    for (const auto& one : frames) {
        fuzz::demand(one.line > 0 && stemma::detail::is_plain_name(one.file), "no name of a file");
        files.emplace_back(one.file);
        const stemma::source_position at{one.file, one.line, one.function};
        chain = lines.add_link(chain, lines.add_frame(at, policy.kind(at)));
        lines.set(0, chain);
    }
    const std::vector<std::string> classes{"app.net.Net"};
    fuzz::demand(stemma::detail::file_shortener(classes).shorten(files).size() == files.size(),
                 "a file is lost");
    const auto sources =
        stemma::detail::read_sources(stemma::detail::to_json(lines, 2, 1, true), policy, 1);
    fuzz::demand(sources && sources->lines.chain_count() == lines.chain_count(),
                 "what was written cannot be read");
    if (const auto record = stemma::detail::read_sources(text, policy, 8)) {
        const auto node_chain = record->chain_of(0);
        fuzz::demand(node_chain == stemma::no_id ||
                         !record->lines.frames_of_chain(node_chain).empty(),
                     "a chain without frames");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::try_input(data, size, use);
}
