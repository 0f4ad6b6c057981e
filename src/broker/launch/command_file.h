// command_file.h: finds and checks the file that a command's first word names, as execvp(3) and execve(2) do. In a run
// the broker executes the engine, and this execve succeeds whatever the command is. So the command is checked here
// first.
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
/// `#!` line becomes an argument of /bin/sh, as with execvp(3) after ENOEXEC. Error: the one of exec_failure().
Result<Executable> find_executable(std::vector<std::string> command);

/// Explains why execvp(3) failed with this errno for the word. The Error has the exit status that env(1) has: 127 if
/// the file or something that it needs does not exist, else 126.
Error exec_failure(const std::string& word, int errno_value);

}  // namespace anyperf::broker
