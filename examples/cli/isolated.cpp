// SPDX-License-Identifier: Apache-2.0
#include "isolated.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {

namespace {

[[noreturn]] void answer(int descriptor, const std::function<void(std::FILE*)>& function) {
    // A tool that watches for crashes sees none: this one is expected.
    for (const int crash : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) {
        std::signal(crash, SIG_DFL);
    }
    const rlimit no_dump{0, 0};
    setrlimit(RLIMIT_CORE, &no_dump);
    int status = 1;
    if (std::FILE* out = fdopen(descriptor, "w")) {
        try {
            function(out);
            status = std::fclose(out) == 0 ? 0 : 1;
        } catch (const std::exception&) {
        }
    }
    // Not exit: what the parent has buffered is not ours to write.
    _exit(status);
}

std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 65536> buffer;
    for (;;) {
        const auto got = read(descriptor, buffer.data(), buffer.size());
        if (got > 0) {
            text.append(buffer.data(), static_cast<std::size_t>(got));
        } else if (got == 0 || errno != EINTR) {
            return text;
        }
    }
}

} // namespace

isolated_answer run_isolated(const std::function<void(std::FILE*)>& function) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) {
        return {"", std::strerror(errno)};
    }
    const auto child = fork();
    if (child == 0) {
        close(ends[0]);
        answer(ends[1], function);
    }
    close(ends[1]);
    if (child < 0) {
        const int why = errno;
        close(ends[0]);
        return {"", std::strerror(why)};
    }
    isolated_answer result{read_all(ends[0]), ""};
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        result.problem = "crashed (" + std::string(strsignal(WTERMSIG(status))) + ")";
    } else if (WEXITSTATUS(status) != 0) {
        result.problem = "ended without an answer";
    }
    return result;
}

} // namespace cli
