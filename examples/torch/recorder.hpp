// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_TORCH_RECORDER_HPP
#define STEMMA_EXAMPLES_TORCH_RECORDER_HPP

// What libtorch sees of a torch::nn::Module while it runs:
//
//     torch_capture::recorder record(*net);
//     const auto found = record.run([&] { net->forward(input); });
//
// The C++ front end has no hooks: modules that are to be seen at work say so themselves.
//
//     torch::Tensor forward(torch::Tensor x) {
//         const torch_capture::module_scope scope(*this);
//         ...

#include "modules.hpp"

#include <stemma/align/captured_operations.hpp>
#include <stemma/core/id.hpp>

#include <ATen/record_function.h>
#include <torch/nn/module.h>

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch_capture {

/// Records what a module does. One at a time in a thread.
class recorder {
public:
    /// Requires: `root` outlives it.
    explicit recorder(const torch::nn::Module& root) : model_(detail::describe(root)) {}

    /// Returns: the modules, and the operators that ran while `f` did, each with the innermost
    /// module that had a `module_scope`. To be asked for once.
    template <class Function>
    captured_model run(Function f) {
        open_ = {{0, model_.count_call(0)}};
        {
            const torch::NoGradGuard no_gradients;
            const watch watching(this);
            f();
        }
        return model_.finish(std::move(operations_), false);
    }

private:
    friend class module_scope;

    struct open_module {
        stemma::id module;
        stemma::id call;
    };

    /// Makes a recorder that of its thread, until it ends.
    class watch {
    public:
        explicit watch(recorder* now)
            : before_(current())
            , handle_(at::addThreadLocalCallback(
                  at::RecordFunctionCallback(&recorder::begin, &recorder::end)
                      .needsInputs(true)
                      .needsOutputs(true)
                      .scopes({at::RecordScope::FUNCTION}))) {
            current() = now;
        }
        ~watch() {
            at::removeCallback(handle_);
            current() = before_;
        }
        watch(const watch&) = delete;
        watch& operator=(const watch&) = delete;

    private:
        recorder* before_;
        at::CallbackHandle handle_;
    };

    static recorder*& current() {
        thread_local recorder* now = nullptr;
        return now;
    }

    static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
        if (auto* self = current()) {
            self->begin_operator(function);
        }
        return nullptr;
    }

    static void end(const at::RecordFunction& function, at::ObserverContext*) {
        if (auto* self = current()) {
            self->end_operator(function);
        }
    }

    /// What runs below an operator is part of it.
    void begin_operator(const at::RecordFunction& function) {
        if (depth_++ > 0) {
            operations_.add_name(function.name());
            return;
        }
        const auto at = open_.back();
        operations_.add({at.module, at.call}, function.name());
        for (const auto& input : function.inputs()) {
            for_each_tensor(input, [&](const at::Tensor& tensor) { note_input(tensor); });
        }
    }

    void note_input(const at::Tensor& tensor) {
        const auto maker = makers_.find(tensor.unsafeGetTensorImpl());
        if (maker != makers_.end()) {
            operations_.add_source(maker->second.first);
        } else if (const auto name = model_.name_of(tensor); !name.empty()) {
            operations_.add_parameter(name, tensor.sizes());
        } else {
            operations_.add_input();
        }
    }

    void end_operator(const at::RecordFunction& function) {
        if (--depth_ > 0 || operations_.empty()) {
            return;
        }
        for (const auto& output : function.outputs()) {
            for_each_tensor(output, [&](const at::Tensor& tensor) {
                if (model_.name_of(tensor).empty()) {
                    makers_.insert_or_assign(tensor.unsafeGetTensorImpl(),
                                             std::pair(operations_.size() - 1, weak(tensor)));
                }
            });
        }
    }

    template <class Function>
    static void for_each_tensor(const c10::IValue& value, Function f) {
        if (value.isTensor() && value.toTensor().defined()) {
            f(value.toTensor());
        } else if (value.isList() || value.isTuple()) {
            const auto items = value.isList() ? value.toListRef() : value.toTupleRef().elements();
            for (const c10::IValue& item : items) {
                for_each_tensor(item, f);
            }
        }
    }

    /// Keeps the address of a tensor from being used again, but not its data.
    using weak_tensor = c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>;
    static weak_tensor weak(const at::Tensor& tensor) {
        return weak_tensor(tensor.getIntrusivePtr());
    }

    detail::model_record model_;
    stemma::captured_operations operations_;
    std::vector<open_module> open_;
    std::unordered_map<const at::TensorImpl*, std::pair<stemma::id, weak_tensor>> makers_;
    int depth_ = 0;
};

/// While it exists, what runs is done by `module`. Does nothing when nobody records, or when the
/// module is none of the recorded model's.
class module_scope {
public:
    explicit module_scope(const torch::nn::Module& module) : watching_(recorder::current()) {
        const auto m = watching_ ? watching_->model_.number_of(&module) : stemma::no_id;
        if (m == stemma::no_id || m == 0) { // that the root runs is known
            watching_ = nullptr;
            return;
        }
        watching_->open_.push_back({m, watching_->model_.count_call(m)});
    }
    ~module_scope() {
        if (watching_) {
            watching_->open_.pop_back();
        }
    }
    module_scope(const module_scope&) = delete;
    module_scope& operator=(const module_scope&) = delete;

private:
    recorder* watching_;
};

} // namespace torch_capture

#endif // STEMMA_EXAMPLES_TORCH_RECORDER_HPP
