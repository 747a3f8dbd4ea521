// SPDX-License-Identifier: Apache-2.0
// The main function of all test programs: `[core/glob]` selects the cases of tests/core/glob.cpp.
#if __has_include(<catch2/catch_session.hpp>)
#    include <catch2/catch_session.hpp>
#    include <catch2/catch_test_case_info.hpp>
#    include <catch2/internal/catch_test_case_registry_impl.hpp>

#    include <deque>
#else
#    define CATCH_CONFIG_RUNNER
#    include <catch2/catch.hpp>
#endif

#include <string>

namespace {

/// Returns: the path of a test below tests/, without its extension.
std::string path_of(const std::string& file) {
    const std::string folder = "/tests/";
    const auto path = "/" + file;
    const auto begin = path.rfind(folder);
    const auto below = begin == path.npos ? file : path.substr(begin + folder.size());
    return below.substr(0, below.rfind('.'));
}

void add_tag(Catch::TestCaseInfo& test, const std::string& tag) {
#if __has_include(<catch2/catch_session.hpp>)
    static std::deque<std::string> texts; // Catch2 3 refers to them
    test.tags.push_back(Catch::Tag(texts.emplace_back(tag)));
#else
    auto tags = test.tags;
    tags.push_back(tag);
    Catch::setTags(test, tags);
#endif
}

} // namespace

int main(int argc, char** argv) {
    Catch::Session session;
    if (const int status = session.applyCommandLine(argc, argv); status != 0) {
        return status;
    }
    // As Catch2 itself adds tags for `--filenames-as-tags`, which ignore folders.
    for (const auto& test : Catch::getAllTestCasesSorted(session.config())) {
        add_tag(const_cast<Catch::TestCaseInfo&>(test.getTestCaseInfo()),
                path_of(test.getTestCaseInfo().lineInfo.file));
    }
    return session.run();
}
