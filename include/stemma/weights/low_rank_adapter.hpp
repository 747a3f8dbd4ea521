// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_LOW_RANK_ADAPTER_HPP
#define STEMMA_WEIGHTS_LOW_RANK_ADAPTER_HPP

#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/weights/detail/element_moves.hpp>
#include <stemma/weights/detail/make_values.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Returns: by entry of the model, the name in an adapter: the same, a shorter one that only this
/// entry ends with, or a longer one. The additional prefix of longer names is the same for all, as
/// for an adapter for a part of a larger model.
/// Throws: `error` of `contradiction`, with the adapter's `path`, for a name that is not an
/// entry's, or is another one's, and for names in several parts.
/// Complexity: O(names * length * log entries).
[[nodiscard]] inline std::map<std::string, std::string>
match_adapter_names(std::span<const std::string> names, std::span<const parameter_origin> origins,
                    const std::string& path) {
    std::map<std::string, std::string, std::less<>> by_end; // reversed, for common ends
    const auto reversed = [](std::string_view name) {
        return std::string(name.rbegin(), name.rend());
    };
    for (const auto& origin : origins) {
        for (const auto* list : {&origin.entries, &origin.shared}) {
            for (const auto& name : *list) {
                by_end.emplace(reversed(name), name);
            }
        }
    }
    std::map<std::string, std::string> result;
    std::optional<std::string> part; // what names have in front, reversed
    const std::string* example = nullptr;
    for (const auto& name : names) {
        const auto refuse = [&](const std::string& why) {
            STEMMA_THROW(error(error_code::contradiction, path, name, why));
        };
        const auto asked = reversed(name);
        std::string match;
        std::optional<std::string> front;
        if (const auto same = by_end.find(asked); same != by_end.end()) {
            match = same->second;
            front = "";
        } else if (const auto longer = by_end.lower_bound(asked + ".");
                   longer != by_end.end() && longer->first.starts_with(asked + ".")) {
            const auto next = std::next(longer);
            const bool alone = next == by_end.end() || !next->first.starts_with(asked + ".");
            match = alone ? longer->second : std::string();
        } else {
            for (auto dot = asked.rfind('.'); dot != asked.npos && dot > 0 && match.empty();
                 dot = asked.rfind('.', dot - 1)) {
                const auto shorter = by_end.find(asked.substr(0, dot));
                const bool of_module = asked.find('.') != dot;
                match = shorter != by_end.end() && of_module ? shorter->second : std::string();
                front = asked.substr(dot);
            }
        }
        if (match.empty()) {
            refuse("no initializer was made from it");
        }
        if (front && !part) {
            part = front;
            example = &name;
        } else if (front && *front != *part) {
            refuse("would be " + match + ", but is in another part of a model than " + *example);
        }
        if (const auto [entry, is_new] = result.emplace(match, name); !is_new) {
            refuse("would be " + match + ", as would " + entry->second);
        }
    }
    return result;
}

} // namespace detail

/// Low-rank changes of weights from PEFT: `W + scale * B A` for modules by path.
///  The scale is `lora_alpha / r`, or `lora_alpha / sqrt(r)` with `use_rslora`, from
/// `adapter_config.json` beside the tensors; 1 without that file. Fully trained tensors replace
/// entries.
class low_rank_adapter {
public:
    /// From a folder with `adapter_model.safetensors`, or a file of tensors.
    /// Throws: `error` of `cannot_read` or `malformed`; of `unsupported` for other kinds of
    /// adapters: DoRA, PiSSA and others that change the original weights, ranks by pattern, biases,
    /// several adapters. Complexity: O(tensors).
    explicit low_rank_adapter(const std::string& path)
        : path_(path), tensors_(read_checkpoint(file_of(path))) {
        read_config();
        for (const auto& entry : tensors_.entries()) {
            add(entry);
        }
        if (changes_.empty() && whole_.empty()) {
            STEMMA_THROW(error(error_code::malformed, path, "", "has no low-rank matrices"));
        }
        for (const auto& [name, one] : changes_) {
            check(name, one);
        }
    }

    low_rank_adapter(low_rank_adapter&&) = default; // what it points to does not move
    low_rank_adapter& operator=(low_rank_adapter&&) = default;

    /// The path.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// Returns: the changed entries, by the adapter's names. Complexity: O(entries).
    [[nodiscard]] std::vector<std::string> entries() const {
        std::vector<std::string> names;
        for (const auto& [name, one] : changes_) {
            names.push_back(name);
        }
        for (const auto& [name, entry] : whole_) {
            names.push_back(name);
        }
        return names;
    }

    /// Returns: the tensor that replaces an entry, or null.
    [[nodiscard]] const checkpoint::entry* whole(std::string_view name) const {
        const auto entry = whole_.find(name);
        return entry == whole_.end() ? nullptr : entry->second;
    }

    /// Returns: the tensors of the file.
    [[nodiscard]] const checkpoint& tensors() const noexcept { return tensors_; }

    /// Returns: the change added to an entry of a shape, row by row, if any.
    /// Throws: `error` of `contradiction` for another shape. Complexity: O(elements * rank).
    [[nodiscard]] std::optional<std::vector<float>>
    change_of(std::string_view name, const std::vector<std::int64_t>& shape) const {
        const auto factors = changes_.find(name);
        if (factors == changes_.end()) {
            return std::nullopt;
        }
        const auto& [down, up, embedding] = factors->second;
        const auto rank = static_cast<std::size_t>(down->shape[0]);
        const auto rows = static_cast<std::size_t>(up->shape[0]);
        const auto columns = static_cast<std::size_t>(detail::count_of(down->shape)) / rank;
        const bool turned = fan_in_fan_out_ || embedding;
        const bool fits = !shape.empty() && detail::count_of(shape) == rows * columns &&
                          static_cast<std::uint64_t>(shape[0]) == (turned ? columns : rows);
        if (!fits) {
            STEMMA_THROW(error(error_code::contradiction, path_, name,
                               "changes " + std::to_string(rows) + " by " +
                                   std::to_string(columns) + " weights of " +
                                   detail::shape_text(shape)));
        }
        const auto a = numbers(*down);
        const auto b = numbers(*up);
        const auto scale = scale_for(rank);
        std::vector<float> result(rows * columns);
        std::vector<double> row(columns);
        for (std::size_t i = 0; i < rows; ++i) {
            row.assign(columns, 0);
            for (std::size_t k = 0; k < rank; ++k) {
                const auto factor = static_cast<double>(b[i * rank + k]);
                for (std::size_t j = 0; j < columns; ++j) {
                    row[j] += factor * static_cast<double>(a[k * columns + j]);
                }
            }
            for (std::size_t j = 0; j < columns; ++j) {
                result[turned ? j * rows + i : i * columns + j] =
                    static_cast<float>(row[j] * scale);
            }
        }
        return result;
    }

private:
    struct change {
        const checkpoint::entry* down = nullptr; // A
        const checkpoint::entry* up = nullptr;   // B
        bool embedding = false;
    };

    [[nodiscard]] static std::filesystem::path folder_of(const std::string& path) {
        std::error_code failed;
        return std::filesystem::is_directory(path, failed)
                   ? std::filesystem::path(path)
                   : std::filesystem::path(path).parent_path();
    }

    [[nodiscard]] static std::string file_of(const std::string& path) {
        std::error_code failed;
        if (!std::filesystem::is_directory(path, failed)) {
            return path;
        }
        const auto safe = std::filesystem::path(path) / "adapter_model.safetensors";
        return std::filesystem::is_regular_file(safe, failed)
                   ? safe.string()
                   : (std::filesystem::path(path) / "adapter_model.bin").string();
    }

    void read_config() {
        const auto path = (folder_of(path_) / "adapter_config.json").string();
        std::error_code failed;
        if (!std::filesystem::is_regular_file(path, failed)) {
            return;
        }
        const mapped_file file(path);
        const auto config = nlohmann::json::parse(file.bytes(), nullptr, false);
        if (!config.is_object()) {
            STEMMA_THROW(error(error_code::malformed, path, "", "is not a JSON object"));
        }
        const auto flag = [&](const char* key) {
            const auto entry = config.find(key);
            return entry != config.end() && entry->is_boolean() && entry->get<bool>();
        };
        const auto number = [&](const char* key) {
            const auto entry = config.find(key);
            return entry != config.end() && entry->is_number() ? std::optional(entry->get<double>())
                                                               : std::nullopt;
        };
        alpha_ = number("lora_alpha");
        rank_ = number("r").value_or(0);
        root_of_rank_ = flag("use_rslora");
        fan_in_fan_out_ = flag("fan_in_fan_out");
        for (const char* const pattern : {"rank_pattern", "alpha_pattern"}) {
            if (config.contains(pattern) && !config[pattern].empty()) {
                STEMMA_THROW(error(error_code::unsupported, path, pattern, "is not supported"));
            }
        }
        if (flag("use_dora")) {
            STEMMA_THROW(error(error_code::unsupported, path, "use_dora", "is not supported"));
        }
        check_kind(config, path);
    }

    /// Throws: where the change is not simply added to the weights of the original model.
    static void check_kind(const nlohmann::json& config, const std::string& path) {
        const auto text = [&](const char* key) {
            const auto entry = config.find(key);
            return entry != config.end() && entry->is_string()
                       ? detail::to_lower(entry->get<std::string>())
                       : std::string();
        };
        if (const auto type = text("peft_type"); !type.empty() && type != "lora") {
            STEMMA_THROW(error(error_code::unsupported, path, "peft_type", "is not LORA"));
        }
        constexpr std::array<std::string_view, 5> changing{"pissa", "olora", "corda", "loftq",
                                                           "lora_ga"};
        const auto start = text("init_lora_weights");
        if (detail::range::any_of(changing,
                                  [&](std::string_view word) { return start.starts_with(word); })) {
            STEMMA_THROW(error(error_code::unsupported, path, "init_lora_weights",
                               start + " changes the original weights; PEFT converts the adapter "
                                       "to a plain one"));
        }
        constexpr const char* some_tokens = "alora_invocation_tokens";
        if (config.contains(some_tokens) && !config[some_tokens].is_null()) {
            STEMMA_THROW(error(error_code::unsupported, path, some_tokens, "is not supported"));
        }
    }

    /// Classifies a tensor by name: `base_model.model.X.lora_A.weight`.
    void add(const checkpoint::entry& entry) {
        std::string_view name = entry.name;
        for (const std::string_view prefix : {"base_model.model.", "base_model."}) {
            if (name.starts_with(prefix)) {
                name.remove_prefix(prefix.size());
                break;
            }
        }
        struct kind {
            std::string_view word;
            bool up;
            bool embedding;
        };
        constexpr std::array<kind, 4> kinds{{{".lora_A", false, false},
                                             {".lora_B", true, false},
                                             {".lora_embedding_A", false, true},
                                             {".lora_embedding_B", true, true}}};
        for (const auto& [word, up, embedding] : kinds) {
            const auto at = name.rfind(word);
            const auto behind =
                at == name.npos ? std::string_view() : name.substr(at + word.size());
            if (at == name.npos || !(behind.empty() || behind.front() == '.')) {
                continue;
            }
            if (!embedding && !behind.empty() && !behind.ends_with(".weight")) {
                STEMMA_THROW(error(error_code::unsupported, path_, entry.name, "is not supported"));
            }
            auto& factors = changes_[std::string(name.substr(0, at)) + ".weight"];
            auto& matrix = up ? factors.up : factors.down;
            if (matrix != nullptr) {
                STEMMA_THROW(error(error_code::unsupported, path_, entry.name,
                                   "belongs to a different adapter than " + matrix->name));
            }
            matrix = &entry;
            factors.embedding = embedding;
            return;
        }
        if (name.find(".lora_") != name.npos) {
            STEMMA_THROW(error(error_code::unsupported, path_, entry.name, "is not supported"));
        }
        whole_.emplace(std::string(name), &entry);
    }

    void check(const std::string& name, const change& one) const {
        if (one.down == nullptr || one.up == nullptr) {
            STEMMA_THROW(error(error_code::malformed, path_, name,
                               one.down == nullptr ? "has no lora_A" : "has no lora_B"));
        }
        const auto& a = one.down->shape;
        const auto& b = one.up->shape;
        if (a.size() < 2 || b.size() != a.size() || a[0] <= 0 || a[0] != b[1] ||
            detail::count_of(b) !=
                static_cast<std::uint64_t>(b[0]) * static_cast<std::uint64_t>(b[1]) ||
            !detail::is_real_type(one.down->data_type) ||
            !detail::is_real_type(one.up->data_type)) {
            STEMMA_THROW(error(error_code::malformed, path_, name,
                               "has matrices of " + detail::shape_text(a) + " and " +
                                   detail::shape_text(b)));
        }
    }

    [[nodiscard]] std::vector<float> numbers(const checkpoint::entry& entry) const {
        const auto bytes = tensors_.bytes(entry);
        return detail::floats_of(
            entry.data_type == detail::float32
                ? bytes
                : detail::convert_reals(bytes, entry.data_type, detail::float32));
    }

    [[nodiscard]] double scale_for(std::size_t rank) const {
        if (!alpha_) {
            return 1;
        }
        const auto size = rank_ > 0 ? rank_ : static_cast<double>(rank);
        return *alpha_ / (root_of_rank_ ? std::sqrt(size) : size);
    }

    std::string path_;
    checkpoint tensors_;
    std::map<std::string, change, std::less<>> changes_;
    std::map<std::string, const checkpoint::entry*, std::less<>> whole_;
    std::optional<double> alpha_;
    double rank_ = 0;
    bool root_of_rank_ = false;
    bool fan_in_fan_out_ = false;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_WEIGHTS_LOW_RANK_ADAPTER_HPP
