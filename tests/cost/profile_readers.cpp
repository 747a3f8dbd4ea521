// SPDX-License-Identifier: Apache-2.0
#include <stemma/cost/profile_readers.hpp>

#include "../catch.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"

#include <stemma/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test::cost_profile_readers {

namespace {

stemma::profile read(std::string_view text) {
    stemma::profile result;
    stemma::read_profile(text, "p", result);
    return result;
}

std::string event(std::string_view name, int start, int duration,
                  std::string_view category = "Node") {
    return R"({"cat":")" + std::string(category) + R"(","tid":1,"ph":"X","name":")" +
           std::string(name) + R"(","ts":)" + std::to_string(start) + R"(,"dur":)" +
           std::to_string(duration) +
           R"(,"args":{"node_index":"3","op_name":"Add","provider":"CPU","shapes":[{"float":[1]}]}})";
}

} // namespace

TEST_CASE("ort_profile: a kernel's time excludes nested kernels", "[cost][profile]") {
    const auto all =
        read("[" + event("in_kernel_time", 5, 3) + "," + event("in_kernel_time", 9, 2) + "," +
             event("loop_kernel_time", 2, 20) + "," + event("after_kernel_time", 30, 1) + "," +
             event("model_run", 0, 40, "Session") + "]");
    REQUIRE(all.kernels().size() == 3);
    CHECK(all.kernels()[0].name == "in");
    CHECK(all.kernels()[0].calls == 2);
    CHECK(all.kernels()[0].total() == 5);
    CHECK(all.kernels()[1].total() == 15);
    CHECK(all.kernels()[1].node_index == 3);
    CHECK(all.total() == 21);
    CHECK(all.runs() == 1);
}

TEST_CASE("csv_profile: reads units from the heading, and quoted fields", "[cost][profile]") {
    const auto all = read("Name;Duration (ns)\r\n\"a;b \"\"c\"\"\";1500\r\n");
    CHECK(all.kernels()[0].name == "a;b \"c\"");
    CHECK(all.total() == 1.5);
}

TEST_CASE("csv_profile: rows of a run may be anywhere", "[cost][profile]") {
    for (const auto* rows :
         {"p,0,100\np,1,50\nt,0,10\nt,1,5\n", "p,0,100\nt,0,10\np,1,50\nt,1,5\n"}) {
        const auto all = read("name,run,time\n" + std::string(rows));
        CHECK(all.runs() == 2);
        REQUIRE(all.kernels().size() == 2);
        REQUIRE(all.kernels()[1].runs.size() == 2);
        CHECK(all.kernels()[1].runs[0].microseconds == 10);
        CHECK(all.kernels()[1].runs[1].run == 1);
        CHECK(all.total() == 165);
    }
}

TEST_CASE("csv_profile: knows the usual spellings of units, and rejects unknown ones",
          "[cost][profile]") {
    for (const auto& [heading, microseconds] :
         {std::pair("time (\xc2\xb5s)", 1.0), std::pair("time (\xce\xbcs)", 1.0),
          std::pair("time [us]", 1.0), std::pair("time_us", 1.0), std::pair("time", 1.0),
          std::pair("time (ms)", 1e3), std::pair("time (s)", 1e6)}) {
        INFO(heading);
        CHECK(read("name," + std::string(heading) + "\na,2\n").total() == 2 * microseconds);
    }
    CHECK_THROWS_WITH(read("name,time (min)\na,2\n"),
                      Catch::Contains("'time (min)' has no known unit"));
}

// The next ones have the shapes, not the text, of logs that people published.

TEST_CASE("tensorrt_profile: times are totals over all iterations", "[cost][profile]") {
    const auto all = read(R"json([ { "count" : 625 }
, { "name" : "Reformatting CopyNode for Input Tensor 0 to a + PWN(b)", "timeMs" : 36.5, "averageMs" : 0.0584, "percentage" : 1.2 }
, { "name" : "a + PWN(b)", "timeMs" : 0, "averageMs" : 0, "medianMs" : 0.01, "percentage" : 0 }
])json");
    CHECK(all.total() == 36500);
    CHECK(all.kernels().size() == 2);
    CHECK(all.kernels()[0].calls == 625);
    const auto odd = read(R"json([{"count": 1e300}, {"name": "a", "timeMs": 1}])json");
    CHECK(odd.kernels()[0].calls == std::uint64_t{1} << 53U);
}

TEST_CASE("qnn_profile: skips rows of the whole graph and its parts", "[cost][profile]") {
    const auto all =
        read("Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event "
             "Identifier\n"
             "0,ROOT,4,COUNT,HW,ROOT,\"Number of HVX threads used\"\n"
             "1,ROOT,100000,CYCLES,HW,ROOT,\"Accelerator (execute) time (cycles)\"\n"
             "2,NODE,500,CYCLES,HW,SUB-EVENT,\"Conv_token_1_2:OpId_7 (cycles)\"\n"
             "UNKNOWN,EXECUTE,3100,US,BACKEND,ROOT,NULL\n"
             "UNKNOWN,BACKEND,2800,US,BACKEND,SUB-EVENT,Accelerator (execute) time\n"
             "2,NODE,300,CYCLES,HW,SUB-EVENT,\"Conv_token_1_2:OpId_7 (cycles)\"\n");
    REQUIRE(all.kernels().size() == 1);
    CHECK(all.kernels()[0].name == "Conv_token_1_2");
    CHECK(all.runs() == 2);
    CHECK(all.total() == 800);
}

TEST_CASE("qnn_profile: uses the column of ONNX operators if present", "[cost][profile]") {
    const auto all = read("Message,Time,Unit of Measurement,Event Level,Event Identifier,ONNX "
                          "Source Ops\n"
                          "NODE,500,CYCLES,SUB-EVENT,q_1:OpId_7 (cycles),/a/Conv;/a/Relu\n"
                          "NODE,5,CYCLES,SUB-EVENT,q_2:OpId_8 (cycles),\n");
    REQUIRE(all.kernels().size() == 2);
    CHECK(all.kernels()[0].name == "/a/Conv;/a/Relu");
    CHECK(all.kernels()[1].name == "q_2");
}

TEST_CASE("openvino_profile: each table is a run, whatever other columns it has",
          "[cost][profile]") {
    const std::string table =
        "layerName;execStatus;layerType;execType;numaId;realTime (ms);cpuTime (ms);\n"
        "x;Status.NOT_RUN;Parameter;unknown_I8;0;0.000;0.000;\n"
        "conv;Status.EXECUTED;Convolution;jit_avx512_FP32;0;1.250;1.250;\n"
        "Total;;;;;1.250;1.250;\n";
    const auto all = read(table + table);
    CHECK(all.runs() == 2);
    CHECK(all.total() == 2500);
    REQUIRE(all.kernels().size() == 1);
    CHECK(all.kernels()[0].provider == "jit_avx512_FP32");
}

TEST_CASE("read_profile: rejects other files with one line", "[cost][profile]") {
    for (const std::string_view text :
         {"", "{}", "[", "[1", "name,time\nx,y\n", "a,b\n", R"([{"cat":"Session"}])",
          R"([{"name":"x","averageMs":"y"}])", "Event Identifier,x\n", "name,time\nx,inf\n",
          R"([{"name":"x","timeMs":1e300}])", "name,time\nx,1e308\nx,1e308\n",
          "layerName;realTime (ms)\nx;-1\n", "layerName;realTime (ms)\nx;1\ny;0,5\n"}) {
        INFO(text);
        CHECK_THROWS_AS(read(text), stemma::error);
    }
}

TEST_CASE("read_profiles: merges runs of several files, without warm-up", "[profile]") {
    const test::scratch_folder folder;
    const auto path = folder.make("times.csv", "run,name,time\n1,a,9\n2,a,2\n3,a,4\n");
    const std::vector<std::string> paths{path, path};
    const auto all = stemma::read_profiles(paths);
    CHECK(all.runs() == 4);
    CHECK(all.dropped() == 2);
    CHECK(all.total() == 12);
    CHECK(all.formats() == "csv");
    CHECK(all.files() == path + ", " + path);
    CHECK(stemma::read_profiles(paths, 0).total() == 30);
    CHECK_THROWS_AS(stemma::read_profiles(paths, 3), stemma::error);
    CHECK(stemma::read_profiles({path, path}).total() == 12);
}

TEST_CASE("read_profiles: a file without runs is not a profile", "[profile]") {
    const test::scratch_folder folder;
    const std::vector<std::string> paths{folder.make("times.csv", "run,name,time\n")};
    const auto refused = test::refusal([&] { return stemma::read_profiles(paths); });
    CHECK(refused.code() == stemma::error_code::malformed);
    CHECK(std::string(refused.what()).find("contains no run") != std::string::npos);
}

} // namespace test::cost_profile_readers
