// runner.cpp: a forked process a case; what it leaves behind goes with its process group.
#include "suite/runner.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>

#include "suite/expect.h"
#include "suite/machine.h"

namespace conformance {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void be_the_case(const Case& one, int report) {
    ::setpgid(0, 0);
    std::string text = "p";
    try {
        one.check();
    } catch (const Skip& skip) {
        text = std::string{"s"} + skip.what();
    } catch (const std::exception& failure) {
        text = std::string{"f"} + failure.what();
    }
    [[maybe_unused]] const auto written = ::write(report, text.data(), text.size());
    ::_exit(0);
}

Result from_report(const std::string& report, int status) {
    if (report.starts_with('p')) return {Outcome::passed, ""};
    if (report.starts_with('s')) return {Outcome::skipped, report.substr(1)};
    if (report.starts_with('f')) return {Outcome::failed, report.substr(1)};
    if (WIFSIGNALED(status)) return {Outcome::failed, "ended by signal " + std::to_string(WTERMSIG(status))};
    return {Outcome::failed, "ended with status " + std::to_string(WEXITSTATUS(status))};
}

void take(int report, std::string& text) {
    std::array<char, 4096> buffer{};
    const auto bytes = ::read(report, buffer.data(), buffer.size());
    if (bytes > 0) text.append(buffer.data(), static_cast<std::size_t>(bytes));
}

/// Reads what the case reports, until it has ended or its time is up. Grandchildren may hold the pipe open.
Result wait_for(pid_t pid, int report, int timeout_seconds) {
    const auto deadline = Clock::now() + std::chrono::seconds{timeout_seconds};
    std::string text;
    int status = 0;
    while (true) {
        pollfd entry{report, POLLIN, 0};
        constexpr int kGlance = 20;
        if (::poll(&entry, 1, kGlance) == 1) take(report, text);
        const bool reported = !text.empty();
        if (::waitpid(pid, &status, reported ? 0 : WNOHANG) == pid) {
            if (!reported && ::poll(&entry, 1, 0) == 1) take(report, text);
            return from_report(text, status);
        }
        if (Clock::now() > deadline) break;
    }
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
    return {Outcome::failed, "not done after " + std::to_string(timeout_seconds) + " s"};
}

}  // namespace

Result run_case(const Case& one, const Options& options) {
    if (const auto lacking = lack(one.needs, options.sysctls)) {
        if (("," + options.has + ",").find("," + lacking->name + ",") == std::string::npos)
            return {Outcome::skipped, lacking->reason};
        return {Outcome::failed, "expected " + lacking->name + ", but: " + lacking->reason};
    }
    std::array<int, 2> report{};
    if (::pipe(report.data()) != 0) return {Outcome::failed, "pipe: " + errno_name(errno)};
    const pid_t pid = ::fork();
    if (pid < 0) return {Outcome::failed, "fork: " + errno_name(errno)};
    if (pid == 0) {
        ::close(report[0]);
        be_the_case(one, report[1]);
    }
    ::close(report[1]);
    const Result result = wait_for(pid, report[0], options.timeout_seconds);
    ::close(report[0]);
    ::kill(-pid, SIGKILL);
    return result;
}

}  // namespace conformance
