// SPDX-License-Identifier: Apache-2.0
// What a page calls: a request in, an answer out, both as texts.
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

/// Returns: 0 where the answer is what was asked for, 1 where it says why there is none.
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

/// The last answer, and the texts among the pieces of the last file. Valid until the next call.
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
