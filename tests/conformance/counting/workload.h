// workload.h: workloads whose counts are known exactly, and the events that count them.
#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "anyperf/counter_set.h"
#include "anyperf/event.h"
#include "host/kernel/tracefs.h"
#include "host/root.h"
#include "try.h"

namespace anyperf::counting {

/// The tracepoint of a system call that no other process makes: even a count of the whole machine is exact.
inline constexpr const char* kRareCall = "syscalls:sys_enter_sched_rr_get_interval";

/// Makes that system call `times` times.
inline void rare_calls(int times) {
    timespec interval{};
    for (int i = 0; i < times; ++i) ::syscall(SYS_sched_rr_get_interval, 0, &interval);
}

/// Makes tracepoints available: mounts tracefs in this process's own mount namespace if it is not mounted. Returns the
/// reason to skip the test, or "".
inline std::string no_tracepoints() {
    if (::geteuid() != 0) return "only root can read tracefs";
    if (!host::Tracefs::find(host::Root{}) &&
        (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
         ::mount("none", "/sys/kernel/tracing", "tracefs", 0, nullptr) != 0))
        return "tracefs is not mounted and can't be mounted";
    const auto tracefs = host::Tracefs::find(host::Root{});
    if (!tracefs || !tracefs->has("syscalls", "sys_enter_sched_rr_get_interval"))
        return "this kernel has no system call tracepoints";
    return {};
}

inline Result<CounterSet> open_set(std::string_view events, const Target& target, OpenOptions options = {}) {
    const auto groups = TRY(events::parse(events::Machine::read(), events));
    return CounterSet::open(groups, target, {.open = options});
}

/// A child process that waits for go(), then does its work and ends.
class Child {
  public:
    explicit Child(const std::function<void()>& work) {
        if (::pipe(go_.data()) != 0) return;
        pid_ = ::fork();
        if (pid_ != 0) return;
        char byte = 0;
        ::close(go_[1]);
        if (::read(go_[0], &byte, 1) == 1) work();
        ::_exit(0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        ::close(go_[0]);
        ::close(go_[1]);
        if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    }

    pid_t pid() const { return pid_; }
    void go() const { [[maybe_unused]] const auto ignored = ::write(go_[1], "g", 1); }
    void finish() {
        if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

  private:
    std::array<int, 2> go_{-1, -1};
    pid_t pid_ = -1;
};

/// Does the work in a child process and waits for its end.
inline void run_child(const std::function<void()>& work) {
    Child child{work};
    child.go();
    child.finish();
}

}  // namespace anyperf::counting
