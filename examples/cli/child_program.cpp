// SPDX-License-Identifier: Apache-2.0
#include "child_program.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {

namespace {

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

struct file_closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

/// Starts a program that reads from one descriptor and writes to another.
///
/// Returns: 0 or an error number.
int start(pid_t& child, const std::string& program, std::vector<std::string>& arguments, int input,
          int output, bool shows_errors) {
    std::vector<char*> words;
    words.reserve(arguments.size() + 1);
    for (auto& word : arguments) {
        words.push_back(word.data());
    }
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!shows_errors) {
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    const int failure =
        posix_spawnp(&child, program.c_str(), &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

child_answer failed(int number) {
    return {"", std::nullopt, "cannot run: " + std::string(std::strerror(number)), false};
}

} // namespace

child_answer run_child(const std::string& program, std::vector<std::string> arguments,
                       std::string_view input, bool shows_errors) {
    // A memory file instead of a pipe: a child that exits early cannot block or kill the writer.
    const std::unique_ptr<std::FILE, file_closer> given(
        fdopen(memfd_create("input", MFD_CLOEXEC), "w+"));
    if (!given || std::fwrite(input.data(), 1, input.size(), given.get()) != input.size() ||
        std::fflush(given.get()) != 0 || std::fseek(given.get(), 0, SEEK_SET) != 0) {
        return failed(errno);
    }
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        return failed(errno);
    }
    arguments.insert(arguments.begin(), program);
    pid_t child = 0;
    const int failure =
        start(child, program, arguments, fileno(given.get()), ends[1], shows_errors);
    close(ends[1]);
    if (failure != 0) {
        close(ends[0]);
        return failed(failure);
    }
    child_answer answer{read_all(ends[0]), std::nullopt, "", true};
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        answer.problem = "crashed (" + std::string(strsignal(WTERMSIG(status))) + ")";
    } else {
        answer.status = WEXITSTATUS(status);
    }
    return answer;
}

std::string run_self(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "stemma");
    std::vector<char*> words;
    for (auto& word : arguments) {
        words.push_back(word.data());
    }
    words.push_back(nullptr);
    pid_t child = 0;
    const int failure =
        posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, words.data(), environ);
    if (failure != 0) {
        return failed(failure).problem;
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? "crashed (" + std::string(strsignal(WTERMSIG(status))) + ")" : "";
}

} // namespace cli
