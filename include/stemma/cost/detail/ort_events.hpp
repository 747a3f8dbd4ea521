// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_DETAIL_ORT_EVENTS_HPP
#define STEMMA_COST_DETAIL_ORT_EVENTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/cost/profile.hpp>
#include <stemma/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// SAX handler for a list of flat objects, merging members of a nested `args`: ONNX Runtime's trace
/// events, and TensorRT's list of layers.
class event_fields {
public:
    explicit event_fields(std::string_view file) : file_(file) {}
    virtual ~event_fields() = default;
    event_fields(const event_fields&) = delete;
    event_fields& operator=(const event_fields&) = delete;

    bool null() { return true; }
    bool boolean(bool) { return true; }
    bool number_integer(nlohmann::json::number_integer_t value) {
        return number(static_cast<double>(value));
    }
    bool number_unsigned(nlohmann::json::number_unsigned_t value) {
        return number(static_cast<double>(value));
    }
    bool number_float(nlohmann::json::number_float_t value, const std::string&) {
        return number(value);
    }
    bool string(std::string& value) {
        if (depth_ == 1 || (depth_ == 2 && in_args_)) {
            text(key_, value);
        }
        return true;
    }
    bool binary(nlohmann::json::binary_t&) { return true; }
    bool key(std::string& name) {
        if (depth_ == 1 || (depth_ == 2 && in_args_)) {
            key_.swap(name);
        }
        return true;
    }
    bool start_object(std::size_t) {
        if (!listed_) {
            fail("", "is not a list of events");
        }
        in_args_ = depth_ == 1 ? key_ == "args" : in_args_;
        if (++depth_ == 1) {
            begin();
        }
        return true;
    }
    bool end_object() {
        if (--depth_ == 0) {
            end();
        }
        return true;
    }
    bool start_array(std::size_t) {
        if (!listed_) {
            listed_ = true;
            return true;
        }
        ++depth_;
        return true;
    }
    bool end_array() {
        depth_ -= depth_ > 0 ? 1 : 0;
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& e) {
        std::string reason = e.what();
        if (const auto text = reason.find("] "); text != reason.npos) {
            reason.erase(0, text + 2);
        }
        fail("byte " + std::to_string(position), reason);
    }

    [[noreturn]] void fail(std::string_view place, std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, file_, place, reason));
    }

protected:
    virtual void begin() = 0;
    virtual void end() = 0;
    virtual void text(const std::string& key, const std::string& value) = 0;
    virtual void real(const std::string& key, double value) = 0;

private:
    bool number(double value) {
        if (depth_ == 1 || (depth_ == 2 && in_args_)) {
            real(key_, value);
        }
        return true;
    }

    std::string_view file_;
    std::string key_;
    std::size_t depth_ = 0;
    bool listed_ = false;
    bool in_args_ = false;
};

/// ONNX Runtime's events. A kernel's time excludes kernels in its bodies.
class ort_events final : public event_fields {
public:
    ort_events(std::string_view file, profile& to) : event_fields(file), profile_(to) {}

    [[nodiscard]] bool met_node() const noexcept { return met_node_; }

protected:
    void begin() override {
        category_.clear();
        name_.clear();
        op_.clear();
        provider_.clear();
        start_ = 0;
        duration_ = 0;
        thread_ = 0;
        index_ = no_id;
    }

    void text(const std::string& key, const std::string& value) override {
        if (key == "cat") {
            category_ = value;
        } else if (key == "name") {
            name_ = value;
        } else if (key == "op_name") {
            op_ = value;
        } else if (key == "provider") {
            provider_ = value;
        } else if (key == "node_index") {
            std::from_chars(value.data(), value.data() + value.size(), index_);
        }
    }

    void real(const std::string& key, double value) override {
        if (key == "ts") {
            start_ = value;
        } else if (key == "dur") {
            duration_ = value;
        } else if (key == "tid") {
            thread_ = value;
        }
    }

    void end() override {
        if (category_ == "Session" && name_ == "model_run") {
            profile_.end_run();
            open_.clear();
        }
        if (category_ != "Node") {
            return;
        }
        met_node_ = true;
        if (!(duration_ >= 0)) {
            fail(name_, "has a negative duration");
        }
        auto own = duration_;
        auto& before = open_[thread_]; // complete, and not yet nested in another
        while (!before.empty() && before.back().first >= start_ && duration_ > 0) {
            own -= before.back().second;
            before.pop_back();
        }
        before.emplace_back(start_, duration_);
        std::string_view name = name_;
        for (const std::string_view suffix : {"_kernel_time", "_fence_before", "_fence_after"}) {
            if (name.ends_with(suffix)) {
                name.remove_suffix(suffix.size());
                break;
            }
        }
        const bool kernel = !name_.ends_with("_fence_before") && !name_.ends_with("_fence_after");
        profile_.add({name, op_, provider_, own > 0 ? own : 0, index_, kernel ? 1U : 0U});
    }

private:
    profile& profile_;
    std::string category_;
    std::string name_;
    std::string op_;
    std::string provider_;
    double start_ = 0;
    double duration_ = 0;
    double thread_ = 0;
    id index_ = no_id;
    bool met_node_ = false;
    std::map<double, std::vector<std::pair<double, double>>> open_; // by thread: start, duration
};

/// The layers of TensorRT's `--exportProfile`: `name`, `averageMs`, `count`.
class tensorrt_layers final : public event_fields {
public:
    tensorrt_layers(std::string_view file, profile& to) : event_fields(file), profile_(to) {}

    [[nodiscard]] bool met_layer() const noexcept { return met_layer_; }

protected:
    void begin() override {
        name_.clear();
        time_ = -1;
        average_ = -1;
    }
    void text(const std::string& key, const std::string& value) override {
        name_ = key == "name" ? value : name_;
    }
    void real(const std::string& key, double value) override {
        if (key == "count") {
            count_ = std::clamp(value, 1.0, 0x1p53); // whole numbers in a double
        } else if (key == "timeMs") {
            time_ = value;
        } else if (key == "averageMs") {
            average_ = value;
        }
    }
    void end() override {
        const auto total = time_ >= 0 ? time_ : average_ * count_;
        if (!name_.empty() && total >= 0) {
            met_layer_ = true;
            profile_.add(
                {name_, {}, "TensorRT", total * 1000, no_id, static_cast<std::uint64_t>(count_)});
        }
    }

private:
    profile& profile_;
    std::string name_;
    double count_ = 1;
    double time_ = -1;
    double average_ = -1;
    bool met_layer_ = false;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COST_DETAIL_ORT_EVENTS_HPP
