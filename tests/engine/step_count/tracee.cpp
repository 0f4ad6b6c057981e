#include "step_count/tracee.h"

#include <sched.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace anyperf::step_count::tracee {

namespace {

[[noreturn]] void exit_with_error(const char* what) {
    std::fprintf(stderr, "step_count: %s: %s\n", what, std::strerror(errno));
    std::exit(125);
}

constexpr long kOptions = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
                          PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;

/// Tracer and tracee take turns. On one CPU each step costs a context switch, on two CPUs an inter-processor interrupt.
void stay_on_one_cpu() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
}

constexpr std::uint64_t kTrapBit = 1ull << (SIGTRAP - 1);

}  // namespace

pid_t start(char* const arguments[]) {
    stay_on_one_cpu();
    int seized_pipe[2];
    if (pipe(seized_pipe) != 0) exit_with_error("pipe");
    const pid_t child = fork();
    if (child < 0) exit_with_error("fork");
    if (child == 0) {
        char byte = 0;
        close(seized_pipe[1]);
        (void)!read(seized_pipe[0], &byte, 1);
        close(seized_pipe[0]);
        execvp(arguments[0], arguments);
        std::fprintf(stderr, "step_count: cannot run %s: %s\n", arguments[0], std::strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    if (ptrace(PTRACE_SEIZE, child, nullptr, kOptions) != 0) exit_with_error("cannot trace the program");
    close(seized_pipe[0]);
    close(seized_pipe[1]);
    return child;
}

bool step(pid_t tid, int signal) {
    return ptrace(PTRACE_SINGLESTEP, tid, nullptr, static_cast<long>(signal)) == 0;
}

bool resume(pid_t tid, int signal) {
    return ptrace(PTRACE_CONT, tid, nullptr, static_cast<long>(signal)) == 0;
}

bool listen(pid_t tid) {
    return ptrace(PTRACE_LISTEN, tid, nullptr, nullptr) == 0;
}

bool registers(pid_t tid, user_regs_struct& out) {
    return ptrace(PTRACE_GETREGS, tid, nullptr, &out) == 0;
}

void set_registers(pid_t tid, const user_regs_struct& registers) {
    ptrace(PTRACE_SETREGS, tid, nullptr, const_cast<user_regs_struct*>(&registers));
}

siginfo_t signal_info(pid_t tid) {
    siginfo_t info{};
    ptrace(PTRACE_GETSIGINFO, tid, nullptr, &info);
    return info;
}

unsigned long event_message(pid_t tid) {
    unsigned long message = 0;
    ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &message);
    return message;
}

CodeBytes code(pid_t tid, std::uint64_t address) {
    CodeBytes out;
    constexpr std::size_t kLongest = 15;
    const std::size_t in_page = 4096 - address % 4096;
    const std::array remote{iovec{reinterpret_cast<void*>(address), std::min(kLongest, in_page)},
                            iovec{reinterpret_cast<void*>(address + in_page), kLongest - std::min(kLongest, in_page)}};
    const iovec local{out.bytes.data(), kLongest};
    const ssize_t got = process_vm_readv(tid, &local, 1, remote.data(), remote[1].iov_len ? 2 : 1, 0);
    if (got > 0) out.size = static_cast<std::size_t>(got);
    return out;
}

std::uint64_t word(pid_t tid, std::uint64_t address) {
    errno = 0;
    const long value = ptrace(PTRACE_PEEKDATA, tid, address, nullptr);
    return errno == 0 ? static_cast<std::uint64_t>(value) : 0;
}

void clear_bits(pid_t tid, std::uint64_t address, std::uint64_t bits) {
    errno = 0;
    const long word = ptrace(PTRACE_PEEKDATA, tid, address, nullptr);
    if (errno == 0) ptrace(PTRACE_POKEDATA, tid, address, word & ~static_cast<long>(bits));
}

void unblock_trap(pid_t tid) {
    std::uint64_t mask = 0;
    if (ptrace(PTRACE_GETSIGMASK, tid, sizeof mask, &mask) != 0 || !(mask & kTrapBit)) return;
    mask &= ~kTrapBit;
    ptrace(PTRACE_SETSIGMASK, tid, sizeof mask, &mask);
}

pid_t process_of(pid_t tid) {
    std::ifstream status("/proc/" + std::to_string(tid) + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("Tgid:")) return static_cast<pid_t>(std::strtol(line.c_str() + 5, nullptr, 10));
    return tid;
}

std::string comm(pid_t tid) {
    std::ifstream file("/proc/" + std::to_string(tid) + "/comm");
    std::string name;
    std::getline(file, name);
    return name;
}

std::string executable(pid_t tid) {
    std::array<char, PATH_MAX> path{};
    const ssize_t length = readlink(("/proc/" + std::to_string(tid) + "/exe").c_str(), path.data(), path.size());
    return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

}  // namespace anyperf::step_count::tracee
