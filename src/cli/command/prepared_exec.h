// prepared_exec.h: execvp(3) in two halves. Everything that needs memory or the environment happens before the fork:
// POSIX does not list execvp among the functions that the child of a process with threads may call (signal-safety(7)).
// The child calls execve only.
#pragma once

#include <string>
#include <vector>

namespace anyperf::cli {

/// The file that execvp(3) would execute for this word: the first in PATH that may be executed. Empty: there is none.
std::string program_file(const std::string& word);

/// The calls of execve(2) that execvp(3) would make for a command, in their order. Move-only: it has pointers into its
/// own vectors, which stay valid after a move.
class PreparedExec {
  public:
    /// `words` are the program and its arguments (at least one word). PATH is read here.
    explicit PreparedExec(std::vector<std::string> words);
    PreparedExec(PreparedExec&&) = default;
    PreparedExec& operator=(PreparedExec&&) = delete;

    /// Executes the command. Returns only if that failed: EACCES if the program was found but may not be executed,
    /// ENOENT if it was not found, else the errno that ended the search. Async-signal-safe.
    int execute();

  private:
    std::vector<std::string> words_;
    bool searches_;                        ///< the word has no slash: PATH is searched
    std::vector<std::string> candidates_;  ///< paths of the program: one for each directory of PATH
    std::vector<char*> arguments_;         ///< of the program, with a null at the end
    /// For a file in a format that the kernel does not know: a shell runs it. execute() fills in the second word.
    std::vector<char*> shell_arguments_;
};

}  // namespace anyperf::cli
