// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_ON_FAILURE_HPP
#define STEMMA_CORE_DETAIL_ON_FAILURE_HPP

#include <stemma/config.hpp>

#include <exception>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Calls a function if an exception leaves the scope; exceptions of the function are ignored.
template <class Function>
class on_failure {
public:
    explicit on_failure(Function function) : function_(std::move(function)) {}
    on_failure(const on_failure&) = delete;
    on_failure& operator=(const on_failure&) = delete;

#if defined(__cpp_exceptions)
    ~on_failure() {
        if (std::uncaught_exceptions() > before_) {
            try {
                function_();
            } catch (...) { // the first exception says what went wrong
            }
        }
    }
#endif

private:
    Function function_;
    int before_ = std::uncaught_exceptions();
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_ON_FAILURE_HPP
