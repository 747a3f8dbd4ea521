// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_FOREIGN_FILE_HPP
#define STEMMA_IO_FOREIGN_FILE_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

namespace detail {

struct file_mark {
    std::size_t at;         ///< offset from the start
    std::string_view bytes; ///< expected there
    bool zeros_before;      ///< preceded by two zero bytes, which no protobuf message begins with
    std::string_view text;  ///< what such a file is, and what to do
};

inline constexpr std::array<file_mark, 17> file_marks{{
    {0, "version https://git-lfs", false,
     "is a git-LFS pointer rather than the file itself: run 'git lfs pull'"},
    {0, "PK\3\4", false,
     "is a zip archive, as torch.save writes (.pt, .pth): export the model to ONNX, or unpack it"},
    {0, "\x1f\x8b", false, "is compressed with gzip: run 'gunzip' on it"},
    {4, "1AY&SY", false, "is compressed with bzip2: run 'bunzip2' on it"},
    {0, "\xfd\x37zXZ", false, "is compressed with xz: run 'unxz' on it"},
    {0, "\x28\xb5\x2f\xfd", false, "is compressed with Zstandard: run 'unzstd' on it"},
    {257, "ustar", true, "is a tar archive: unpack it"},
    {0, "\x7f\x45LF", false, "is a compiled program rather than an ONNX model"},
    {0, "%PDF-", false, "is a PDF document rather than an ONNX model"},
    {4, "ORTM", true,
     "is in the ORT format of ONNX Runtime: use the ONNX file that it was made from"},
    {4, "TFL3", true, "is a TFLite model: convert it with tf2onnx"},
    {0, "GGUF", false, "is a GGUF file of weights: export the model to ONNX"},
    {0, "\x89HDF", false, "is an HDF5 file, as Keras writes: convert it with tf2onnx"},
    {0, "\x80\2", false, "is a Python pickle: export the model to ONNX"},
    {0, "\x93NUMPY", false, "is a NumPy array rather than a model"},
    {0, "<!DOCTYPE", false, "is a web page rather than a model: the download went wrong"},
    {0, "<html", false, "is a web page rather than a model: the download went wrong"},
}};

[[nodiscard]] inline bool is_blank(char c) noexcept {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Whether the bytes look like text rather than protobuf tags.
[[nodiscard]] inline bool begins_as_text(std::string_view bytes) noexcept {
    constexpr std::size_t least = 4;
    constexpr std::size_t most = 512;
    const auto head = bytes.substr(0, most);
    return head.size() >= least && std::all_of(head.begin(), head.end(), [](char c) {
               return static_cast<unsigned char>(c) >= 0x20 || is_blank(c);
           });
}

/// Whether text looks like protobuf's text format: `name: value` or `name {`.
[[nodiscard]] inline bool begins_as_text_format(std::string_view text) noexcept {
    const auto end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
    const auto rest = end == text.npos ? std::string_view() : text.substr(end);
    return end != 0 && (rest.starts_with(':') || rest.starts_with(" {") || rest.starts_with("{"));
}

/// Returns: what a file that is not an ONNX model contains, and what to do about it, as the end of
/// a sentence about the file; "" if unrecognized. Complexity: O(1) after leading blanks.
[[nodiscard]] inline std::string_view foreign_file_text(std::string_view bytes) noexcept {
    for (const auto& mark : detail::file_marks) {
        const bool marked = bytes.size() >= mark.at + mark.bytes.size() &&
                            bytes.substr(mark.at, mark.bytes.size()) == mark.bytes;
        if (marked &&
            (!mark.zeros_before || bytes.substr(mark.at - 2, 2) == std::string_view("\0\0", 2))) {
            return mark.text;
        }
    }
    // safetensors: an eight-byte length whose upper bytes are zero, then JSON.
    if (bytes.size() > 9 && bytes.substr(4, 4) == std::string_view("\0\0\0\0", 4) &&
        bytes[8] == '{' && (bytes[9] == '"' || bytes[9] == '}')) {
        return "is a safetensors file of weights: export the model to ONNX";
    }
    auto text = bytes;
    while (!text.empty() && detail::is_blank(text.front())) {
        text.remove_prefix(1);
    }
    if (text.starts_with('{') || text.starts_with("[{") || text.starts_with("[\"")) {
        auto inside = text.substr(1);
        while (!inside.empty() && detail::is_blank(inside.front())) {
            inside.remove_prefix(1);
        }
        if (text.front() == '[' || inside.starts_with('"') || inside.starts_with('}')) {
            return "is JSON rather than an ONNX model; a capture is given with -m";
        }
    }
    if (!detail::begins_as_text(bytes)) {
        return {};
    }
    return detail::begins_as_text_format(text) ? "is a model in protobuf's text format: convert it "
                                                 "with 'protoc --encode=onnx.ModelProto onnx.proto'"
                                               : "is plain text rather than an ONNX model";
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_IO_FOREIGN_FILE_HPP
