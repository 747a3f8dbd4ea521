// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_CHECKPOINT_FILES_HPP
#define STEMMA_TESTS_CHECKPOINT_FILES_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Checkpoints, byte by byte, including invalid ones.
namespace test {

inline std::string little(std::uint64_t value, unsigned size) {
    std::string bytes;
    for (unsigned i = 0; i < size; ++i) {
        bytes.push_back(static_cast<char>(value & 0xffU));
        value >>= 8U;
    }
    return bytes;
}

/// A safetensors file with the given header.
inline std::string safetensors(const std::string& header, const std::string& data) {
    return little(header.size(), 8) + header + data;
}

/// A tensor of floats.
struct float_tensor {
    std::string name{};
    std::vector<std::int64_t> shape{};
    std::vector<float> values{};
};

/// A safetensors file with these tensors.
inline std::string safetensors(const std::vector<float_tensor>& tensors) {
    std::string header;
    std::string data;
    for (const auto& [name, shape, values] : tensors) {
        std::string extents;
        for (const auto extent : shape) {
            extents += (extents.empty() ? "" : ",") + std::to_string(extent);
        }
        header += (header.empty() ? "{\"" : ",\"") + name + R"(":{"dtype":"F32","shape":[)" +
                  extents + R"(],"data_offsets":[)" + std::to_string(data.size()) + ",";
        for (const auto value : values) {
            data += little(std::bit_cast<std::uint32_t>(value), 4);
        }
        header += std::to_string(data.size()) + "]}";
    }
    return safetensors(header + "}", data);
}

struct zip_file {
    std::string name{};
    std::string content{};
    unsigned method = 0;       ///< 8: compressed
    std::int64_t at = -1;      ///< offset in the directory; -1 for the actual one
    std::uint64_t claimed = 0; ///< size in the directory; 0 for the actual one
};

/// A zip archive. Checksums are not set.
inline std::string zip(const std::vector<zip_file>& files) {
    std::string archive;
    std::string directory;
    for (const auto& file : files) {
        const auto size = file.claimed == 0 ? file.content.size() : file.claimed;
        const auto facts = little(20, 2) + little(0x800, 2) + little(file.method, 2) +
                           little(0, 8) + little(size, 4) + little(size, 4) +
                           little(file.name.size(), 2) + little(0, 2);
        const auto at = file.at < 0 ? archive.size() : static_cast<std::uint64_t>(file.at);
        archive += "PK\3\4" + facts + file.name + file.content;
        directory += "PK\1\2" + little(20, 2) + facts + little(0, 10) + little(at, 4) + file.name;
    }
    return archive + directory + "PK\5\6" + little(0, 4) + little(files.size(), 2) +
           little(files.size(), 2) + little(directory.size(), 4) + little(archive.size(), 4) +
           little(0, 2);
}

// Values of a pickle.
namespace pickled {

inline std::string text(std::string_view value) {
    return "X" + little(value.size(), 4) + std::string(value);
}
inline std::string integer(std::int64_t value) {
    return "\x8a\x08" + little(static_cast<std::uint64_t>(value), 8);
}
inline std::string global(const std::string& module, const std::string& name) {
    return "c" + module + "\n" + name + "\n";
}
inline std::string tuple(const std::vector<std::string>& values) {
    std::string bytes = "(";
    for (const auto& value : values) {
        bytes += value;
    }
    return bytes + "t";
}
inline std::string dict(const std::vector<std::pair<std::string, std::string>>& members) {
    std::string bytes = "}(";
    for (const auto& [key, value] : members) {
        bytes += text(key) + value;
    }
    return bytes + "u";
}
inline std::string call(const std::string& function, const std::vector<std::string>& arguments) {
    return function + tuple(arguments) + "R";
}
inline std::string numbers(const std::vector<std::int64_t>& values) {
    std::vector<std::string> all;
    for (const auto value : values) {
        all.push_back(integer(value));
    }
    return tuple(all);
}
inline std::string storage(const std::string& type, const std::string& key, std::int64_t count) {
    return tuple({text("storage"), global("torch", type), text(key), text("cpu"), integer(count)}) +
           "Q";
}
inline std::string tensor(const std::string& in, std::int64_t offset,
                          const std::vector<std::int64_t>& shape,
                          const std::vector<std::int64_t>& strides) {
    return call(global("torch._utils", "_rebuild_tensor_v2"),
                {in, integer(offset), numbers(shape), numbers(strides), "\x89",
                 call(global("collections", "OrderedDict"), {})});
}
inline std::string document(const std::string& value) {
    return "\x80\x02" + value + ".";
}

} // namespace pickled

/// An archive as written by `torch.save`, with one storage `0`.
inline std::string torch_archive(const std::string& value, const std::string& storage) {
    return zip(
        {{"a/data.pkl", pickled::document(value)}, {"a/data/0", storage}, {"a/version", "3\n"}});
}

} // namespace test

#endif // STEMMA_TESTS_CHECKPOINT_FILES_HPP
