// SPDX-License-Identifier: Apache-2.0
#include <stemma/checkpoint/detail/pickle.hpp>

#include "../../catch.hpp"
#include "../../checkpoint_files.hpp"

#include <stemma/checkpoint/detail/pickled_values.hpp>
#include <stemma/checkpoint/detail/torch_pickle.hpp>
#include <stemma/error.hpp>

#include <cstddef>
#include <string>

namespace test::checkpoint_detail_pickle {

namespace {

using namespace test::pickled;
using stemma::detail::pickled_kind;

/// A pickle's value in short notation: `[1 'a' {..}]`.
std::string show(const stemma::detail::pickled_values& values, stemma::detail::pickled v,
                 unsigned depth = 0) {
    const auto kind = values[v].kind;
    switch (kind) {
    case pickled_kind::none:
        return "None";
    case pickled_kind::boolean:
        return values[v].content != 0 ? "True" : "False";
    case pickled_kind::integer:
        return std::to_string(values[v].content);
    case pickled_kind::text:
        return "'" + std::string(values.text(v)) + "'";
    case pickled_kind::list:
    case pickled_kind::dict: {
        if (depth > 5) {
            return "...";
        }
        std::string shown = kind == pickled_kind::list ? "[" : "{";
        for (const auto item : values.items(v)) {
            shown += (shown.size() > 1 ? " " : "") + show(values, item, depth + 1);
        }
        return shown + (kind == pickled_kind::list ? "]" : "}");
    }
    default:
        return "?";
    }
}

std::string read_bytes(const std::string& bytes) {
    stemma::detail::torch_pickle calls(false);
    stemma::detail::pickled_values values(bytes, "file", "data.pkl");
    try {
        const auto root =
            stemma::detail::pickle_reader<stemma::detail::torch_pickle>(bytes, values, calls)
                .read();
        return show(values, root);
    } catch (const stemma::error& e) {
        return e.what();
    }
}

std::string read(const std::string& value) {
    return read_bytes(document(value));
}

const std::string damaged = "file: data.pkl: is not a pickle, or is damaged";

} // namespace

TEST_CASE("pickle_reader: reads numbers, texts and containers of protocols 2 to 5") {
    CHECK(read("N") == "None");
    CHECK(read("(\x88\x89t") == "[True False]");
    CHECK(read("(K\xffM\1\2J" + little(0xffff'fffeU, 4) + "\x8a\1\xff\x8a" + little(0, 1) + "t") ==
          "[255 513 -2 -1 0]");
    CHECK(read("\x8a\x09" + std::string(9, '\1')) == "?");
    CHECK(read("G" + std::string(8, '\0')) == "?");
    CHECK(read("(" + text("ab") +
               "\x8c\x01"
               "cU\x01"
               "dC\x01"
               "et") == "['ab' 'c' 'd' 'e']");
    CHECK(read("\x8e" + little(2, 8) + "xy") == "'xy'");
    CHECK(read("](K\1K\2eK\3a") == "[1 2 3]");
    CHECK(read("}K\1K\2s(K\3K\4u") == "{1 2 3 4}");
    CHECK(read("(K\1K\2d") == "{1 2}");
    CHECK(read("K\1\x85K\2K\3\x86K\4K\5K\6\x87\x87") == "[[1] [2 3] [4 5 6]]");
    CHECK(read("\x8f(K\1\x90") == "[1]");
    CHECK(read("(K\1\x91") == "[1]");
    CHECK(read("K\1q\7"
               "0(h\7h\7t") == "[1 1]");
    CHECK(read("(K\1\x94K\2\x94h" + little(0, 1) + "h\1t") == "[1 2 1 2]");
    CHECK(read("(K\1"
               "2t") == "[1 1]");
    CHECK(read("(K\1K\2"
               "0t") == "[1]");
    CHECK(read("\x95" + little(1, 8) + "N") == "None");
    CHECK(read(call(global("collections", "OrderedDict"), {"](K\1K\2\x86"
                                                           "e"})) == "{1 2}");
    CHECK(read(text("collections") + text("OrderedDict") + "\x93)R") == "{}");
}

TEST_CASE("pickle_reader: executes nothing, and names what it would have to execute") {
    const auto refusal = [](const std::string& name) {
        return "file: data.pkl: needs '" + name +
               "', neither a tensor nor a container, and pickles are not executed: save "
               "model.state_dict()";
    };
    CHECK(read(call(global("os", "system"), {text("false")})) == refusal("os.system"));
    CHECK(read(text("os") + text("system") + "\x93(" + text("x") + "tR") == refusal("os.system"));
    CHECK(read(global("builtins", "eval")) == refusal("builtins.eval"));
    CHECK(read(global("torch", "load")) == refusal("torch.load"));
    CHECK(read(global("torchvision.models.resnet", "ResNet") + ")\x81") ==
          refusal("torchvision.models.resnet.ResNet"));
    CHECK(read(global(std::string(500, 'a'), "b")) == refusal(std::string(100, 'a') + ".b"));
    // Texts that are called, opcodes for instances and extensions, and persistent ids.
    CHECK(read(text("system") + ")R") == "file: data.pkl: calls an object that is not a name");
    for (const auto* op : {"ios\nsystem\n", "o", "\x82\1", "Pabc\n", "S'x'\n", "I1\n"}) {
        CHECK(read("(" + std::string(op))
                  .find("uses an operation that no checkpoint needs (opcode") != std::string::npos);
    }
    CHECK(read(text("x") + "Q").find("has a tensor or storage with unexpected arguments") !=
          std::string::npos);
}

TEST_CASE("pickle_reader: rejects damaged and hostile pickles") {
    CHECK(read_bytes("") == damaged);
    CHECK(read_bytes("\x80\2") == damaged);
    CHECK(read_bytes("\x80\1N.") == "file: data.pkl: is a pickle of protocol 1");
    CHECK(read_bytes("\x80\6N.") == "file: data.pkl: is a pickle of protocol 6");
    CHECK(read("") == damaged);                                   // nothing to return
    CHECK(read("NN") == damaged);                                 // something left
    CHECK(read("(N") == damaged);                                 // a mark left
    CHECK(read("N(0") == damaged);                                // takes what is below a mark
    CHECK(read("t") == damaged);                                  // no mark
    CHECK(read("h\7") == damaged);                                // nothing remembered
    CHECK(read("q\7") == damaged);                                // nothing to remember
    CHECK(read("j" + little(0xffff'ffffU, 4)) == damaged);        //
    CHECK(read("](K\1u") == damaged);                             // a list is not a dict
    CHECK(read("}(K\1u") == damaged);                             // a key without a value
    CHECK(read("NK\1a") == damaged);                              // appends to nothing
    CHECK(read("X" + little(0xffff'ffffU, 4) + "ab") == damaged); // longer than the pickle
    CHECK(read("\x8d" + little(~0ULL, 8) + "ab") == damaged);
    CHECK(read("\x8b" + little(0x7fff'ffffU, 4)) == damaged);
    CHECK(read("cos") == damaged); // a name without an end
    CHECK(read(text("os") + "N\x93") == damaged);
    CHECK(read(text("x") + "}b") == damaged); // sets what a text has
}

TEST_CASE("pickle_reader: depth, cycles and counts use no stack and bounded memory") {
    constexpr std::size_t many = 200'000;
    std::string deep(many, ']');
    deep.append(many - 1, 'a');
    CHECK(read(deep).find("...") != std::string::npos);
    CHECK(read(std::string(many, '(')) == damaged);
    CHECK(read("]q\1h\1a").find("[[[") == 0); // a list containing itself
    CHECK(read("(" + std::string(5'000'000, 'N') + "t") ==
          "file: data.pkl: has more values than any checkpoint");
    // Tensors built repeatedly from one tuple.
    std::string shape = "(";
    for (int i = 0; i < 64; ++i) {
        shape += "K\1";
    }
    shape += "tq\4";
    std::string repeated = "]q\5" + global("torch._utils", "_rebuild_tensor_v2") + "q\1(" +
                           storage("FloatStorage", "0", 1) + "K" + std::string(1, '\0') + shape +
                           "h\4\x89tq\2R0";
    for (std::size_t i = 0; i < 140'000; ++i) {
        repeated += "h\1h\2R0";
    }
    CHECK(read(repeated) == "file: data.pkl: has more tensors than any checkpoint");
}

} // namespace test::checkpoint_detail_pickle
