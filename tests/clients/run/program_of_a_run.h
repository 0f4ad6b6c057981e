// program_of_a_run.h: what a program of a run has, for programs that attack the run: the run's memory and the broker's
// socket, which its engine hides from it and cannot keep from it. Also short forms of perf_event_open(2).
#pragma once

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "run/layout.h"
#include "run/protocol.h"

namespace anyperf::attacks {

constexpr int kHighestDescriptor = 1100;  // the engine hides its own below that
constexpr uid_t kNobody = 65534;

inline void say(const char* what, long value) {
    std::printf("%s %ld\n", what, value);
    std::fflush(stdout);
}

/// A copy of a descriptor of this process, also of one that the engine hides: calls on those are refused, but nothing
/// stops a program that wants them.
inline int copy_of(int number) {
    // The child of a fork opens itself anew.
    static pid_t opened = 0;
    static int self = -1;
    if (opened != ::getpid()) {
        opened = ::getpid();
        self = static_cast<int>(::syscall(SYS_pidfd_open, opened, 0));
    }
    return static_cast<int>(::syscall(SYS_pidfd_getfd, self, number, 0));
}

inline bool is_memory(int fd) {
    struct stat about{};
    return ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 0 &&
           about.st_size > static_cast<off_t>(run::kRingsOffset);
}

inline bool is_facts(int fd) {
    struct stat about{};
    return ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 0 &&
           about.st_size == static_cast<off_t>(run::kFactsBytes);
}

inline bool is_request_socket(int fd) {
    int type = 0;
    socklen_t size = sizeof type;
    ucred peer{};
    socklen_t peer_size = sizeof peer;
    return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET &&
           ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0 && peer.pid != ::getpid();
}

inline int find(bool (*is_wanted)(int)) {
    for (int number = 3; number < kHighestDescriptor; ++number) {
        const int fd = copy_of(number);
        if (fd >= 0 && is_wanted(fd)) return fd;
        if (fd >= 0) ::close(fd);
    }
    return -1;
}

struct Run {
    int memory = find(is_memory);
    int socket = find(is_request_socket);
    char* base = nullptr;

    Run() {
        void* const got = memory < 0 ? MAP_FAILED
                                     : ::mmap(nullptr, run::kRingsOffset + (1U << 20), PROT_READ | PROT_WRITE,
                                              MAP_SHARED | MAP_NORESERVE, memory, 0);
        if (got == MAP_FAILED || socket < 0) std::exit(77);
        base = static_cast<char*>(got);
    }
    template <class T>
    T* at(std::size_t offset) const {
        return reinterpret_cast<T*>(base + offset);
    }
    run::ThreadPage* pages() const { return at<run::ThreadPage>(run::kThreadPagesOffset); }
    std::uint32_t page_of(pid_t tid) const {
        for (std::uint32_t i = 0; i < run::kMaximumThreadPages; ++i)
            if (pages()[i].tid == tid) return i;
        return 0;
    }
};

inline perf_event_attr instructions(std::uint64_t period = 0) {
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_HARDWARE;
    attr.config = PERF_COUNT_HW_INSTRUCTIONS;
    attr.exclude_kernel = attr.exclude_hv = 1;
    attr.sample_period = period;
    attr.sample_type = period != 0 ? PERF_SAMPLE_IP | PERF_SAMPLE_TID : 0;
    return attr;
}

inline int open_event(perf_event_attr attr, pid_t pid = 0, int cpu = -1, int group = -1) {
    return static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC));
}

/// Instructions of a fixed loop, which no other program may change.
[[gnu::noinline]] inline void work(long rounds) {
    for (long i = 0; i < rounds; ++i) asm volatile("nop");
}

inline std::uint64_t counted(int event, long rounds) {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    if (::read(event, &before, sizeof before) != sizeof before) return 0;
    work(rounds);
    return ::read(event, &after, sizeof after) == sizeof after ? after - before : 0;
}

}  // namespace anyperf::attacks
