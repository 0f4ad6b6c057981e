// runner.cpp: runs each case in a forked process, and then kills its process group, so that no child is left over.
#include "suite/runner.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>

#include "suite/expect.h"
#include "suite/needs.h"

namespace conformance {

namespace {

using Clock = std::chrono::steady_clock;

/// Runs the check and writes to the pipe `report`: 'p', or 's' or 'f' and the text of the Skip or Failure.
[[noreturn]] void run_check(const Case& test, int report) {
    ::setpgid(0, 0);
    std::string text = "p";
    try {
        test.check();
    } catch (const Skip& skip) {
        text = std::string{"s"} + skip.what();
    } catch (const std::exception& failure) {
        text = std::string{"f"} + failure.what();
    }
    [[maybe_unused]] const auto written = ::write(report, text.data(), text.size());
    ::_exit(0);
}

Result parse_report(const std::string& report, int status) {
    if (report.starts_with('p')) return {Outcome::passed, ""};
    if (report.starts_with('s')) return {Outcome::skipped, report.substr(1)};
    if (report.starts_with('f')) return {Outcome::failed, report.substr(1)};
    if (WIFSIGNALED(status)) return {Outcome::failed, "ended by signal " + std::to_string(WTERMSIG(status))};
    return {Outcome::failed, "ended with status " + std::to_string(WEXITSTATUS(status))};
}

void append_report(int report, std::string& text) {
    std::array<char, 4096> buffer{};
    const auto bytes = ::read(report, buffer.data(), buffer.size());
    if (bytes > 0) text.append(buffer.data(), static_cast<std::size_t>(bytes));
}

/// Reads the report of a case until its process has ended or the timeout has expired. The end of the pipe is no sign of
/// the end of the case: its children may hold the pipe open.
Result wait_for(pid_t pid, int report, int timeout_seconds) {
    const auto deadline = Clock::now() + std::chrono::seconds{timeout_seconds};
    std::string text;
    int status = 0;
    while (true) {
        pollfd entry{report, POLLIN, 0};
        constexpr int kPollMilliseconds = 20;
        if (::poll(&entry, 1, kPollMilliseconds) == 1) append_report(report, text);
        const bool reported = !text.empty();
        if (::waitpid(pid, &status, reported ? 0 : WNOHANG) == pid) {
            if (!reported && ::poll(&entry, 1, 0) == 1) append_report(report, text);
            return parse_report(text, status);
        }
        if (Clock::now() > deadline) break;
    }
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
    return {Outcome::failed, "not done after " + std::to_string(timeout_seconds) + " s"};
}

}  // namespace

Result run_case(const Case& test, const Options& options) {
    if (const auto missing = find_missing_need(test.needs, options.sysctls)) {
        if (("," + options.has + ",").find("," + missing->name + ",") == std::string::npos)
            return {Outcome::skipped, missing->reason};
        return {Outcome::failed, "expected " + missing->name + ", but: " + missing->reason};
    }
    std::array<int, 2> report{};
    if (::pipe(report.data()) != 0) return {Outcome::failed, "pipe: " + errno_name(errno)};
    const pid_t pid = ::fork();
    if (pid < 0) return {Outcome::failed, "fork: " + errno_name(errno)};
    if (pid == 0) {
        ::close(report[0]);
        run_check(test, report[1]);
    }
    ::close(report[1]);
    const Result result = wait_for(pid, report[0], options.timeout_seconds);
    ::close(report[0]);
    ::kill(-pid, SIGKILL);
    return result;
}

}  // namespace conformance
