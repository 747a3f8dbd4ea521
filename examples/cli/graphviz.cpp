// SPDX-License-Identifier: Apache-2.0
#include "graphviz.hpp"

#include <stemma/error.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {

namespace {

[[noreturn]] void refuse(std::string_view why) {
    throw stemma::error(stemma::error_code::cannot_write, "dot", "", why);
}

struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

using temporary = std::unique_ptr<std::FILE, closer>;

temporary make_temporary() {
    temporary file(std::tmpfile());
    if (!file) {
        refuse(std::strerror(errno));
    }
    return file;
}

} // namespace

std::string draw_svg(std::string_view dot) {
    const auto input = make_temporary();
    const auto output = make_temporary();
    if (std::fwrite(dot.data(), 1, dot.size(), input.get()) != dot.size() ||
        std::fflush(input.get()) != 0) {
        refuse(std::strerror(errno));
    }
    std::rewind(input.get());
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(input.get()), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(output.get()), STDOUT_FILENO);
    std::string name = "dot";
    std::string format = "-Tsvg";
    char* words[] = {name.data(), format.data(), nullptr};
    pid_t child = 0;
    const int failed = posix_spawnp(&child, name.c_str(), &actions, nullptr, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        refuse("cannot be run; install Graphviz, or use --to dot");
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            refuse(std::strerror(errno));
        }
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        refuse(WIFEXITED(status) && WEXITSTATUS(status) == 127
                   ? "cannot be run; install Graphviz, or use --to dot"
                   : "could not draw the picture");
    }
    std::string svg;
    char buffer[65536];
    std::rewind(output.get());
    for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, output.get())) > 0;) {
        svg.append(buffer, got);
    }
    return svg;
}

} // namespace cli
