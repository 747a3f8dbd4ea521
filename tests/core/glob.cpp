// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/glob.hpp>

#include "../catch.hpp"
#include "../random_numbers.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace test::core_glob {

using stemma::glob;
using stemma::detail::glob_match;

namespace {

/// A second implementation: the pattern as a tree, matched by sets of reachable positions.
class slow_glob {
public:
    slow_glob(std::string_view pattern, char separator)
        : separator_(separator), whole_(parse(pattern)) {}

    [[nodiscard]] bool matches(std::string_view text) const {
        return ends(whole_, text, {0}).count(text.size()) == 1;
    }

private:
    enum class kind { literal, one, run, deep_run, either };

    struct atom {
        kind what = kind::literal;
        char letter = 0;
        std::vector<std::vector<atom>> alternatives{};
    };

    using places = std::set<std::size_t>;

    /// Returns: where the brace at `open` is closed, or npos.
    static std::size_t closing(std::string_view pattern, std::size_t open) {
        int depth = 0;
        for (auto i = open; i < pattern.size(); ++i) {
            depth += pattern[i] == '{' ? 1 : pattern[i] == '}' ? -1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        return pattern.npos;
    }

    static std::vector<std::vector<atom>> parse_either(std::string_view inside) {
        std::vector<std::vector<atom>> alternatives;
        int depth = 0;
        std::size_t begin = 0;
        for (std::size_t i = 0; i <= inside.size(); ++i) {
            if (i == inside.size() || (inside[i] == ',' && depth == 0)) {
                alternatives.push_back(parse(inside.substr(begin, i - begin)));
                begin = i + 1;
            } else {
                depth += inside[i] == '{' ? 1 : inside[i] == '}' ? -1 : 0;
            }
        }
        return alternatives;
    }

    static std::vector<atom> parse(std::string_view pattern) {
        std::vector<atom> atoms;
        for (std::size_t i = 0; i < pattern.size(); ++i) {
            const auto close = pattern[i] == '{' ? closing(pattern, i) : pattern.npos;
            if (close != pattern.npos) {
                atoms.push_back(
                    {kind::either, 0, parse_either(pattern.substr(i + 1, close - i - 1))});
                i = close;
            } else if (pattern[i] == '*') {
                const auto first = i;
                while (i + 1 < pattern.size() && pattern[i + 1] == '*') {
                    ++i;
                }
                atoms.push_back({i == first ? kind::run : kind::deep_run});
            } else if (pattern[i] == '?') {
                atoms.push_back({kind::one});
            } else {
                atoms.push_back({kind::literal, pattern[i]});
            }
        }
        return atoms;
    }

    [[nodiscard]] bool separates(char c) const { return separator_ != '\0' && c == separator_; }

    [[nodiscard]] places ends(const std::vector<atom>& atoms, std::string_view text,
                              places at) const {
        for (const auto& a : atoms) {
            places next;
            for (auto place : at) {
                step(a, text, place, next);
            }
            at = next;
        }
        return at;
    }

    void step(const atom& a, std::string_view text, std::size_t place, places& next) const {
        if (a.what == kind::either) {
            for (const auto& alternative : a.alternatives) {
                next.merge(ends(alternative, text, {place}));
            }
        } else if (a.what == kind::run || a.what == kind::deep_run) {
            next.insert(place);
            for (; place < text.size() && (a.what == kind::deep_run || !separates(text[place]));
                 ++place) {
                next.insert(place + 1);
            }
        } else if (place < text.size() &&
                   (a.what == kind::one ? !separates(text[place]) : a.letter == text[place])) {
            next.insert(place + 1);
        }
    }

    char separator_;
    std::vector<atom> whole_;
};

/// Returns: all strings over `letters` of at most `length` letters.
std::vector<std::string> all_strings(std::string_view letters, std::size_t length) {
    std::vector<std::string> strings{""};
    for (std::size_t first = 0, n = 0; n < length; ++n) {
        const auto last = strings.size();
        for (; first < last; ++first) {
            for (char letter : letters) {
                strings.push_back(strings[first] + letter);
            }
        }
    }
    return strings;
}

std::string random_string(test::random_numbers& random, std::string_view letters,
                          std::size_t length) {
    std::string text;
    while (text.size() < length) {
        text.push_back(letters[random(letters.size())]);
    }
    return text;
}

} // namespace

TEST_CASE("glob: agrees with a second implementation on all short patterns", "[core][glob]") {
    const auto patterns = all_strings("a/*?{,}", 5);
    const auto texts = all_strings("a/{", 3);
    std::string differing;
    for (char separator : {'\0', '/'}) {
        for (const auto& pattern : patterns) {
            const slow_glob slow(pattern, separator);
            for (const auto& text : texts) {
                const bool expected = slow.matches(text);
                if (glob_match(pattern, text, separator) != expected ||
                    glob(pattern, separator).matches(text) != expected) {
                    differing.append("'" + pattern + "' on '" + text + "'\n");
                }
            }
        }
    }
    CHECK(differing.substr(0, 400) == "");
}

TEST_CASE("glob: agrees with a second implementation on long patterns", "[core][glob]") {
    test::random_numbers random(1);
    std::string differing;
    std::size_t matches = 0;
    for (int round = 0; round < 20000; ++round) {
        const auto pattern = random_string(random, "ab/**?{,}", random(14));
        const auto text = random_string(random, "aab/,", random(14));
        for (char separator : {'\0', '/'}) {
            const bool fast = glob_match(pattern, text, separator);
            matches += fast ? 1U : 0U;
            if (fast != slow_glob(pattern, separator).matches(text) ||
                fast != glob(pattern, separator).matches(text)) {
                differing.append("'" + pattern + "' on '" + text + "'\n");
            }
        }
    }
    CHECK(differing.substr(0, 400) == "");
    CHECK(matches > 200);
}

TEST_CASE("glob_match: stars stop at the separator, double stars do not", "[core][glob]") {
    CHECK(glob_match("encoder.*.attention", "encoder.0.attention", '.'));
    CHECK_FALSE(glob_match("encoder.*.attention", "encoder.layer.0.attention", '.'));
    CHECK(glob_match("encoder.**.attention", "encoder.layer.0.attention", '.'));
    CHECK_FALSE(glob_match("layer?0", "layer.0", '.'));
    CHECK(glob_match("layer?0", "layer.0"));
    CHECK(glob_match("torch.nn.*.Embedding", "torch.nn.modules.sparse.Embedding"));
}

TEST_CASE("glob_match: braces nest, and unclosed ones stand for themselves", "[core][glob]") {
    CHECK(glob_match("{conv,b{n,atch}}*", "batch1"));
    CHECK(glob_match("{conv,b{n,atch}}*", "bn"));
    CHECK_FALSE(glob_match("{conv,b{n,atch}}*", "b1"));
    CHECK(glob_match("{,x}", ""));
    CHECK(glob_match("{a", "{a"));
    CHECK(glob_match("a}", "a}"));
    CHECK_FALSE(glob_match("{a", "a"));
}

TEST_CASE("glob_match: without a separator, any character is one character", "[core][glob]") {
    const std::string_view zero("\0", 1);
    CHECK(glob_match("?", zero));
    CHECK(glob_match("*", zero));
    CHECK(glob_match("?", "\xff"));
}

TEST_CASE("glob_match: many stars do not take exponential time", "[core][glob]") {
    std::string pattern;
    for (int i = 0; i < 200; ++i) {
        pattern.append("a*");
    }
    const std::string text(5000, 'a');
    CHECK(glob_match(pattern, text));
    CHECK_FALSE(glob_match(pattern + "b", text));
    CHECK_FALSE(glob_match(pattern + "b", text, '/'));
}

TEST_CASE("glob: can tell from the end of a text that nothing ending in it matches",
          "[core][glob]") {
    CHECK_FALSE(glob("*::MatMul").may_end_in("Gemm"));
    CHECK(glob("*::MatMul").may_end_in("MatMul"));
    CHECK(glob("*::MatMul").may_end_in(""));
    CHECK(glob("ai.onnx::*").may_end_in("Gemm"));
    CHECK_FALSE(glob("ai.onnx::MatMul").may_end_in("Gemm"));
    CHECK(glob("{a,b}").may_end_in("b"));
    std::string wrong;
    for (const auto& pattern : all_strings("a/*?{,}", 4)) {
        for (const auto& text : all_strings("a/{,}", 3)) {
            for (std::size_t i = 0; i <= text.size() && glob(pattern).matches(text); ++i) {
                if (!glob(pattern).may_end_in(std::string_view(text).substr(i))) {
                    wrong.append("'" + pattern + "' on '" + text + "'\n");
                }
            }
        }
    }
    CHECK(wrong.substr(0, 400) == "");
}

TEST_CASE("glob: works in constant expressions", "[core][glob]") {
    STATIC_REQUIRE(glob("*Layer{Norm,s}").matches("BertLayerNorm"));
    STATIC_REQUIRE_FALSE(glob("a.*", '.').matches("a.b.c"));
    STATIC_REQUIRE(glob_match("*Layer{Norm,s}", "BertLayerNorm"));
    STATIC_REQUIRE_FALSE(glob_match("*Layer{Norm,s}", "BertLayer"));
}

} // namespace test::core_glob
