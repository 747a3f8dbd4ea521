// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_DETAIL_TORCH_ARCHIVE_HPP
#define STEMMA_CHECKPOINT_DETAIL_TORCH_ARCHIVE_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/checkpoint/detail/pickle.hpp>
#include <stemma/checkpoint/detail/pickled_values.hpp>
#include <stemma/checkpoint/detail/tensor_layout.hpp>
#include <stemma/checkpoint/detail/torch_pickle.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/zip_directory.hpp>

#include <algorithm>
#include <array>
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

/// Keys under which training programs store the state dict among other things, in search order.
inline constexpr std::array<std::string_view, 9> state_keys{
    "state_dict", "model_state_dict", "model_state", "model", "module",
    "net",        "network",          "weights",     "params"};

/// Finds the tensors of a state dict in a pickle.
///
/// - In a dict, the first member named in `state_keys` that contains a state dict in turn, at most
/// four levels deep, counts; else the dict itself if it directly contains tensors.
/// - If there is none, all tensors in dicts and lists count, named by the keys on the way.
/// - In a TorchScript module, all tensors in its attributes and those of its descendants count.
class state_finder {
public:
    /// Requires: the values outlive this.
    explicit state_finder(const pickled_values& values) : values_(&values) {}

    /// Finds them. Throws: `error` (`malformed`) if there are none, `unsupported` if nested too
    /// deep or if names are too long in total. Complexity: O(values).
    void find(pickled root) {
        if (values_->is(root, pickled_kind::object)) {
            walk_script(root, "", 0);
        } else if (const auto state = choose(root, 0); state != pickled_values::none) {
            const auto& items = values_->items(state);
            for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
                if (values_->is(items[i + 1], pickled_kind::tensor)) {
                    add_tensor(text_of(items[i]), items[i + 1]);
                }
            }
            read_modules((*values_)[state].attributes);
        } else {
            walk(root, "", 0);
        }
        if (tensors_.empty()) {
            values_->fail("contains no tensors");
        }
    }

    /// Names, and numbers of tensors.
    [[nodiscard]] std::vector<std::pair<std::string, std::int64_t>>& tensors() noexcept {
        return tensors_;
    }

    /// The modules named besides the tensors.
    [[nodiscard]] std::vector<checkpoint::module>& modules() noexcept { return modules_; }

private:
    static constexpr unsigned deepest = 200;

    [[nodiscard]] pickled choose(pickled v, unsigned depth) {
        constexpr unsigned deepest_state = 4;
        if (depth > deepest_state || !values_->is(v, pickled_kind::dict) ||
            !seen_.insert(v).second) {
            return pickled_values::none;
        }
        for (const auto key : state_keys) {
            const auto result = choose(values_->member(v, key), depth + 1);
            if (result != pickled_values::none) {
                return result;
            }
        }
        const auto& items = values_->items(v);
        for (std::size_t i = 1; i < items.size(); i += 2) {
            if (values_->is(items[i], pickled_kind::tensor)) {
                return v;
            }
        }
        return pickled_values::none;
    }

    [[nodiscard]] std::string text_of(pickled key) const {
        return values_->is(key, pickled_kind::text)      ? std::string(values_->text(key))
               : values_->is(key, pickled_kind::integer) ? std::to_string((*values_)[key].content)
                                                         : std::string();
    }

    /// Names are built for everything below, so a few bytes can produce many.
    void spend(std::size_t bytes) {
        constexpr std::size_t most = std::size_t{1} << 29U;
        constexpr std::size_t of_one = 64;
        spent_ += bytes + of_one;
        if (spent_ > most) {
            values_->fail(error_code::unsupported, "has names that are too long in total");
        }
    }

    void add_tensor(std::string name, pickled tensor) {
        spend(name.size());
        tensors_.emplace_back(std::move(name), (*values_)[tensor].content);
    }

    void check_depth(unsigned depth) const {
        if (depth > deepest) {
            values_->fail(error_code::unsupported, "has values nested deeper than 200");
        }
    }

    /// Visits every container once, even in cycles.
    void walk(pickled v, const std::string& path, unsigned depth) {
        check_depth(depth);
        if (values_->is(v, pickled_kind::tensor)) {
            add_tensor(path, v);
            return;
        }
        const bool dict = values_->is(v, pickled_kind::dict);
        if ((!dict && !values_->is(v, pickled_kind::list)) || !walked_.insert(v).second) {
            return;
        }
        const auto& items = values_->items(v);
        for (std::size_t i = 0; i + (dict ? 1 : 0) < items.size(); i += dict ? 2 : 1) {
            const auto inner = items[dict ? i + 1 : i];
            const auto kind = (*values_)[inner].kind;
            if (kind == pickled_kind::tensor || kind == pickled_kind::dict ||
                kind == pickled_kind::list) {
                auto name = member_path(path, dict ? text_of(items[i]) : std::to_string(i));
                spend(name.size());
                walk(inner, name, depth + 1);
            }
        }
    }

    /// A module held by several has its tensors under each of their names, as in a state dict.
    void walk_script(pickled object, const std::string& path, unsigned depth) {
        check_depth(depth);
        modules_.push_back({path, class_of(object)});
        const auto state = (*values_)[object].attributes;
        if (!values_->is(state, pickled_kind::dict)) {
            return;
        }
        const auto& items = values_->items(state);
        spend(items.size());
        for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
            const bool tensor = values_->is(items[i + 1], pickled_kind::tensor);
            if (tensor || values_->is(items[i + 1], pickled_kind::object)) {
                auto name = member_path(path, text_of(items[i]));
                if (tensor) {
                    add_tensor(std::move(name), items[i + 1]);
                } else {
                    spend(name.size());
                    walk_script(items[i + 1], name, depth + 1);
                }
            }
        }
    }

    /// Returns: `pkg.mod.Class` for `__torch__.pkg.mod.___torch_mangle_3` and `Class`.
    [[nodiscard]] std::string class_of(pickled object) const {
        const auto function = values_->items(object).front();
        std::string name(values_->text(function));
        name += '.';
        name += values_->text((*values_)[function].attributes);
        constexpr std::string_view prefix = "__torch__.";
        constexpr std::string_view mangle = ".___torch_mangle_";
        name = name.starts_with(prefix) ? name.substr(prefix.size() - 1) : "." + name;
        for (auto at = name.find(mangle); at != name.npos; at = name.find(mangle)) {
            const auto end = name.find('.', at + 1);
            name.erase(at, end == name.npos ? name.npos : end - at);
        }
        return name.substr(std::min<std::size_t>(1, name.size()));
    }

    /// A state dict lists its modules: `_metadata` has a member for each.
    void read_modules(pickled attributes) {
        const auto metadata = values_->member(attributes, "_metadata");
        if (!values_->is(metadata, pickled_kind::dict)) {
            return;
        }
        const auto& items = values_->items(metadata);
        for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
            if (values_->is(items[i], pickled_kind::text)) {
                spend(values_->text(items[i]).size());
                modules_.push_back({std::string(values_->text(items[i])), {}});
            }
        }
    }

    const pickled_values* values_;
    std::unordered_set<pickled> seen_;
    std::unordered_set<pickled> walked_;
    std::size_t spent_ = 0;
    std::vector<std::pair<std::string, std::int64_t>> tensors_;
    std::vector<checkpoint::module> modules_;
};

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
