// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_DETAIL_TORCH_ARCHIVE_HPP
#define STEMMA_CHECKPOINT_DETAIL_TORCH_ARCHIVE_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/checkpoint/detail/pickle.hpp>
#include <stemma/checkpoint/detail/pickled_values.hpp>
#include <stemma/checkpoint/detail/state_finder.hpp>
#include <stemma/checkpoint/detail/tensor_layout.hpp>
#include <stemma/checkpoint/detail/torch_pickle.hpp>
#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/zip_directory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Reads the output of `torch.save` and `torch.jit.save`: a zip archive with a pickle, and a member
/// for each storage.
class torch_archive_reader {
public:
    /// Requires: the arguments outlive this.
    torch_archive_reader(std::string_view bytes, std::string_view file)
        : bytes_(bytes), file_(file) {}

    /// Reads entries, of file 0, and modules.
    /// Throws: `error` of `error_code::malformed` or `unsupported`.
    /// Complexity: O(bytes of the pickle + members log members).
    void read() {
        read_directory();
        const auto folder = find_folder();
        if (const auto* order = find(folder + "byteorder");
            order != nullptr && order->bytes.starts_with("big")) {
            fail(error_code::unsupported, order->name, "its elements are big-endian");
        }
        const std::string place = folder + "data.pkl";
        const auto pickle = content(*find(place));
        const bool script = find(folder + "constants.pkl") != nullptr;
        torch_pickle calls(script);
        pickled_values values(pickle, file_, place);
        const auto root = pickle_reader<torch_pickle>(pickle, values, calls).read();
        state_finder state(values);
        state.find(root);
        modules_ = std::move(state.modules());
        std::unordered_set<std::string_view> names;
        entries_.reserve(state.tensors().size());
        for (auto& [name, number] : state.tensors()) {
            add_entry(folder, std::move(name), calls, calls.tensor(number));
        }
        for (const auto& entry : entries_) {
            if (!names.insert(entry.name).second) {
                fail(error_code::malformed, entry.name, "occurs twice");
            }
        }
    }

    /// The entries, in the order of the pickle.
    [[nodiscard]] std::vector<checkpoint::entry>& entries() noexcept { return entries_; }

    /// The modules that the pickle names.
    [[nodiscard]] std::vector<checkpoint::module>& modules() noexcept { return modules_; }

private:
    [[noreturn]] void fail(error_code code, std::string_view place, std::string_view reason) const {
        STEMMA_THROW(error(code, file_, place, reason));
    }

    /// Members must not overlap, so that no byte is read for two of them.
    void read_directory() {
        members_ = zip_directory_reader(bytes_, file_, "zip archive").read();
        std::vector<const zip_member*> placed;
        for (const auto& member : members_) {
            if (!by_name_.emplace(member.name, &member).second) {
                fail(error_code::malformed, member.name, "occurs twice");
            }
            placed.push_back(&member);
        }
        std::sort(placed.begin(), placed.end(), [](const auto* one, const auto* other) {
            return one->bytes.data() < other->bytes.data();
        });
        for (std::size_t i = 1; i < placed.size(); ++i) {
            const auto before = placed[i - 1]->bytes;
            if (placed[i]->bytes.data() < before.data() + before.size()) {
                fail(error_code::malformed, placed[i]->name,
                     "overlaps '" + quoted_name(placed[i - 1]->name) + "'");
            }
        }
    }

    [[nodiscard]] const zip_member* find(std::string_view name) const {
        const auto entry = by_name_.find(name);
        return entry == by_name_.end() ? nullptr : entry->second;
    }

    /// Returns: the folder that contains everything, with the slash.
    [[nodiscard]] std::string find_folder() const {
        constexpr std::string_view wanted = "data.pkl";
        for (const auto& member : members_) {
            const auto slash = member.name.find('/');
            const auto begin = slash == member.name.npos ? 0 : slash + 1;
            if (member.name.substr(begin) == wanted) {
                return std::string(member.name.substr(0, begin));
            }
        }
        fail(error_code::malformed, "",
             "is a zip archive without a data.pkl, which torch.save always writes");
    }

    [[nodiscard]] std::string_view content(const zip_member& member) const {
        if (member.packed) {
            fail(error_code::unsupported, member.name,
                 member.encrypted ? "is encrypted"
                                  : "is compressed, which torch.save does not do: load the "
                                    "checkpoint and save it again");
        }
        return member.bytes;
    }

    /// Checks that all elements of a tensor are in its storage, and that in the archive.
    void add_entry(const std::string& folder, std::string name, const torch_pickle& calls,
                   const pickled_tensor& tensor) {
        const auto& storage = calls.storage(tensor.storage);
        const auto* member = find(folder + "data/" + std::string(storage.key));
        if (member == nullptr) {
            fail(error_code::malformed, name,
                 "its storage '" + quoted_name(storage.key) + "' is not in the archive");
        }
        const auto held = content(*member);
        const auto count = count_elements(tensor.shape);
        const auto size = count ? times(*count, tensor.type->width) : count;
        const auto begin = times(tensor.offset, tensor.type->width);
        const auto all = times(storage.count, storage.type->width);
        if (!size || !begin || !all || *all > held.size()) {
            fail(error_code::malformed, name, "its storage is shorter than declared");
        }
        std::optional<std::uint64_t> last = tensor.offset;
        for (std::size_t axis = 0; axis < tensor.shape.size() && *size > 0; ++axis) {
            const auto step = times(static_cast<std::uint64_t>(tensor.shape[axis] - 1),
                                    static_cast<std::uint64_t>(tensor.strides[axis]));
            last = last && step && *step <= *all ? std::optional(*last + *step) : std::nullopt;
        }
        const auto end = last ? times(*last + 1, tensor.type->width) : last;
        if (*size > 0 ? !end || *end > *all : *begin > *all) {
            fail(error_code::malformed, name, "has elements outside its storage");
        }
        if (*size > *all) {
            fail(error_code::unsupported, name,
                 "has more elements than its storage: save it after tensor.contiguous()");
        }
        checkpoint::entry entry;
        entry.name = std::move(name);
        entry.data_type = tensor.type->data_type;
        entry.width = tensor.type->width;
        entry.shape = tensor.shape;
        if (*size > 0 && !follow_one_another(tensor.shape, tensor.strides)) {
            entry.strides = tensor.strides;
        }
        entry.offset = static_cast<std::uint64_t>(held.data() - bytes_.data()) + *begin;
        entry.size = *size;
        entry.trainable = tensor.trainable;
        entries_.push_back(std::move(entry));
    }

    std::string_view bytes_;
    std::string_view file_;
    std::vector<zip_member> members_;
    std::unordered_map<std::string_view, const zip_member*> by_name_;
    std::vector<checkpoint::entry> entries_;
    std::vector<checkpoint::module> modules_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CHECKPOINT_DETAIL_TORCH_ARCHIVE_HPP
