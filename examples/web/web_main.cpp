// SPDX-License-Identifier: Apache-2.0
// The entry points of the page: a request in, an answer out, both as text.
#include "web_session.hpp"

#include <stemma/error.hpp>

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace {

struct state {
    web::session session;
    std::string answer;
};

state& all() {
    static state only;
    return only;
}

} // namespace

extern "C" {

/// Returns: 0 for an answer, 1 for an error message.
int stemma_call(const char* request, std::size_t size) {
    auto& answer = all().answer;
    try {
        answer = all().session.call(std::string_view(request, size));
        return 0;
    } catch (const std::bad_alloc&) {
        answer = "the memory of this page does not suffice";
    } catch (const std::exception& e) {
        answer = e.what();
    }
    return 1;
}

/// The last answer, and the texts of the last file. Valid until the next call.
const char* stemma_answer() {
    return all().answer.data();
}
std::size_t stemma_answer_size() {
    return all().answer.size();
}
const char* stemma_made() {
    return all().session.made().data();
}
std::size_t stemma_made_size() {
    return all().session.made().size();
}
}
