// command_file.h: the file that a command's first word names, found and judged as execvp(3) and execve(2) do it. In a
// run, execve is called for the engine and succeeds whatever the command is, so the command is checked here before.
#pragma once

#include <string>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::broker {

/// What to execute for a command.
struct Executable {
    std::string program;                 ///< a path
    std::vector<std::string> arguments;  ///< from argv[0] on
};

/// Finds the command's program, in PATH unless the first of the words has a slash. A file that is neither ELF nor has a
/// `#!` line becomes an argument of /bin/sh, as execvp(3) does after ENOEXEC. Error: as of exec_failure().
Result<Executable> find_executable(std::vector<std::string> command);

/// Why execvp(3) failed with this errno for the word. Error with the exit status of env(1): 127, the file or something
/// that it needs does not exist; 126, it cannot be executed.
Error exec_failure(const std::string& word, int errno_value);

}  // namespace anyperf::broker
