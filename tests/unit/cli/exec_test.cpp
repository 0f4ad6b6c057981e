// exec_test.cpp: a command is executed by execve(2) alone once its process has been forked. This program may have
// threads, and the child of its fork may call only what is async-signal-safe; execvp(3) is not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "cli/command/command.h"
#include "cli/command/prepared_exec.h"

/// Takes the place of libc's in this program.
extern "C" int execvp(const char*, char* const*) {
    ::_exit(99);
}

namespace anyperf::cli {
namespace {

int status_of(const std::vector<std::string>& words) {
    const auto signals = BlockedSignals::block();
    auto command = Command::fork(words, *signals);
    if (!command || !command->execute()) return -1;
    ExitInfo exit_info;
    const AwaitedTasks none{{}};
    while (!command->try_wait(exit_info).value()) wait_for_wakeup(*signals, none, std::nullopt);
    return exit_info.exit_status;
}

TEST(Command, IsExecutedWithoutExecvp) {
    EXPECT_EQ(status_of({"sh", "-c", "exit 5"}), 5);
    EXPECT_EQ(status_of({"/bin/sh", "-c", "exit 6"}), 6);
}

TEST(Command, IsSearchedInTheCurrentPath) {
    const char* const path = std::getenv("PATH");
    const std::string before = path != nullptr ? path : "";
    ::setenv("PATH", "/nonexistent", 1);
    EXPECT_EQ(status_of({"sh", "-c", "exit 5"}), -1);
    ::setenv("PATH", before.c_str(), 1);
}

TEST(Command, WithASlashFailsWithTheErrnoOfExecve) {
    PreparedExec below_a_file{{"/dev/null/program"}};
    EXPECT_EQ(below_a_file.execute(), ENOTDIR);
    PreparedExec absent{{"/nonexistent/program"}};
    EXPECT_EQ(absent.execute(), ENOENT);
}

TEST(ProgramFile, IsNeverADirectory) {
    EXPECT_EQ(program_file("/tmp"), "");
    EXPECT_EQ(program_file("/bin/sh"), "/bin/sh");
}

}  // namespace
}  // namespace anyperf::cli
