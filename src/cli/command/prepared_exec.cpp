// prepared_exec.cpp: the search of execvp(3). The constructor makes every string and array that the tries need: a path
// for each directory of PATH, the arguments, and the arguments of a shell. execute() then only walks these arrays.
//
// The order and the errors follow execvpe() of glibc, because users know its messages: a program that is found but may
// not be executed is "Permission denied", although later directories of PATH were tried. A word with a slash is not
// searched: its error is that of execve(2), for example "Not a directory".
#include "cli/command/prepared_exec.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace anyperf::cli {

namespace {

constexpr const char* kShell = "/bin/sh";              // _PATH_BSHELL of <paths.h>
constexpr const char* kDefaultPath = "/bin:/usr/bin";  // what glibc uses if PATH is not set
// After these errors of one directory, execvpe() of glibc tries the next. Any other error ends the search: E2BIG, for
// instance, would be the same in each directory.
constexpr std::array kTryNext{ENOENT, ENOTDIR, ESTALE, ENODEV, ETIMEDOUT, EACCES};

/// Whether PATH is searched for the word. Otherwise it is the file itself, and execve's errno is the answer.
bool is_searched(const std::string& word) {
    return !word.empty() && !word.contains('/');
}

/// The files that execvp(3) would try, in its order. An empty directory in PATH is the working directory.
std::vector<std::string> candidates_for(const std::string& word) {
    if (!is_searched(word)) return {word};
    const char* const path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : kDefaultPath;
    std::vector<std::string> candidates;
    for (;;) {
        const auto colon = rest.find(':');
        const std::string directory{rest.substr(0, colon)};
        candidates.push_back(directory.empty() ? word : directory + "/" + word);
        if (colon == std::string_view::npos) return candidates;
        rest.remove_prefix(colon + 1);
    }
}

}  // namespace

std::string program_file(const std::string& word) {
    for (const std::string& candidate : candidates_for(word))
        if (std::error_code ignored;
            !std::filesystem::is_directory(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0)
            return candidate;
    return {};
}

PreparedExec::PreparedExec(std::vector<std::string> words)
    : words_(std::move(words)), searches_(is_searched(words_.front())), candidates_(candidates_for(words_.front())) {
    for (auto& word : words_) arguments_.push_back(word.data());
    arguments_.push_back(nullptr);
    shell_arguments_ = {const_cast<char*>(kShell), nullptr};
    shell_arguments_.insert(shell_arguments_.end(), arguments_.begin() + 1, arguments_.end());
}

// As execvpe() of glibc, but without allocation: all strings were made before the fork. A file without an interpreter
// line is run by the shell. EACCES is reported only if no later directory has the program.
int PreparedExec::execute() {
    bool denied = false;
    for (auto& candidate : candidates_) {
        ::execve(candidate.c_str(), arguments_.data(), ::environ);
        if (errno == ENOEXEC) {
            shell_arguments_[1] = candidate.data();
            ::execve(kShell, shell_arguments_.data(), ::environ);
        }
        if (!searches_ || std::ranges::find(kTryNext, errno) == kTryNext.end()) return errno;
        denied |= errno == EACCES;
    }
    return denied ? EACCES : ENOENT;
}

}  // namespace anyperf::cli
