// command_file.cpp: the checks of execve(2), made in advance on the files.
//
// A file may change after these checks. Then the engine, which reads it later, reports the cause. The engine also
// reports what is not checked here, such as a missing loader of an ELF file.
#include "broker/launch/command_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace anyperf::broker {

namespace {

namespace filesystem = std::filesystem;

// The exit statuses of a shell, of env(1) and of timeout(1).
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

constexpr const char* kShell = "/bin/sh";  // _PATH_BSHELL, which execvp(3) uses

/// The file that execvp(3) would try: the word itself if it has a slash, else the first executable file of that name in
/// PATH, else the first one without permission. Empty if PATH has no file of that name. If PATH is not set, the shell's
/// usual directories are searched.
std::string file_of(const std::string& word) {
    if (word.empty() || word.contains('/')) return word;
    const char* const path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    std::string denied;
    for (;;) {
        const std::size_t colon = rest.find(':');
        const std::string directory{rest.substr(0, colon)};
        const std::string candidate = directory.empty() ? word : directory + "/" + word;
        std::error_code ignored;
        if (filesystem::is_regular_file(candidate, ignored)) {
            if (::access(candidate.c_str(), X_OK) == 0) return candidate;
            if (denied.empty()) denied = candidate;
        }
        if (colon == std::string_view::npos) return denied;
        rest.remove_prefix(colon + 1);
    }
}

/// The interpreter that a script's "#!" line names; empty if the file is not a script. exec fails with ENOENT for the
/// script when it is the interpreter that does not exist.
std::string interpreter_of(const std::string& script) {
    std::ifstream file{script};
    std::string line;
    if (!std::getline(file, line) || !line.starts_with("#!")) return {};
    const auto start = line.find_first_not_of(" \t", 2);
    if (start == std::string::npos) return {};
    return line.substr(start, line.find_first_of(" \t", start) - start);
}

/// Whether execve(2) answers ENOEXEC: the file is readable, and its first bytes are neither ELF's nor "#!".
bool has_no_format(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) return false;
    std::string start(4, '\0');
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    return !start.starts_with("#!") && start != "\177ELF";
}

/// Why exec failed with ENOENT or ENOTDIR. The checks go from the outside in: PATH, the file, its interpreter, its
/// loader.
Error not_found(const std::string& word) {
    Error error{"cannot run " + word, "", "", kNotFound};
    const std::string file = file_of(word);
    if (word.empty()) {
        error.cause = "the command's name is empty";
        error.fix = "give the command after --";
    } else if (file.empty()) {
        error.cause = "command not found in PATH";
        error.fix = "install it, or give its path";
    } else if (::access(file.c_str(), F_OK) != 0) {
        error.cause = "no such file";
        error.fix = "check the path; a relative path starts at the current directory";
    } else if (const auto interpreter = interpreter_of(file); !interpreter.empty()) {
        error.cause = "its first line names the interpreter " + interpreter + ", which doesn't exist";
        error.fix = "install the interpreter, or correct the line";
    } else {  // the file exists and is not a script: ENOENT is about PT_INTERP, see execve(2)
        error.cause = "the dynamic loader that it needs doesn't exist";
        error.fix = "`file " + file + "` names the loader";
    }
    return error;
}

/// Why exec failed with any other errno. Without a better cause it is the errno's text.
Error not_executable(const std::string& word, int errno_value) {
    Error error{"cannot run " + word, std::generic_category().message(errno_value), "", kNotExecutable};
    const std::string file = file_of(word);
    struct stat info{};
    if (::stat(file.c_str(), &info) != 0) return error;
    const std::string interpreter = errno_value == EACCES ? interpreter_of(file) : "";
    if (S_ISDIR(info.st_mode)) {
        error.cause = "it is a directory";
        error.fix = "name a program in it";
    } else if (errno_value == EACCES && (info.st_mode & 0111) == 0) {
        error.cause = "it is not marked as executable";
        error.fix = "chmod +x " + file;
    } else if (!interpreter.empty() && ::access(interpreter.c_str(), X_OK) != 0) {
        error.cause = "its first line names the interpreter " + interpreter + ", which is not executable";
        error.fix = "correct the line";
    } else if (errno_value == ENOEXEC) {
        error.cause = "it is not in an executable format that this machine supports";
    }
    return error;
}

/// The errno of execve(2) for the file and the interpreter that it names; 0 if neither is an obstacle.
int expected_errno(const std::string& file) {
    struct stat info{};
    if (file.empty()) return ENOENT;
    if (::stat(file.c_str(), &info) != 0) return errno;
    if (S_ISDIR(info.st_mode) || ::access(file.c_str(), X_OK) != 0) return EACCES;
    const std::string interpreter = interpreter_of(file);
    return interpreter.empty() || ::access(interpreter.c_str(), X_OK) == 0 ? 0 : errno;
}

}  // namespace

Error exec_failure(const std::string& word, int errno_value) {
    const bool absent = errno_value == ENOENT || errno_value == ENOTDIR;
    return absent ? not_found(word) : not_executable(word, errno_value);
}

Result<Executable> find_executable(std::vector<std::string> command) {
    const std::string file = file_of(command.front());
    if (const int error = expected_errno(file); error != 0)
        return std::unexpected(exec_failure(command.front(), error));
    if (!has_no_format(file)) return Executable{file, std::move(command)};
    command.front() = file;
    command.insert(command.begin(), kShell);
    return Executable{kShell, std::move(command)};
}

}  // namespace anyperf::broker
