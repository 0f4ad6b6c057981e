// wait.cpp: wait4(2) and waitid(2). The broker learns by itself that a process was killed, but its parent may learn it
// sooner: then the kernel's account of how long the process ran is gone before anybody has looked at it. So while
// events are used a thread looks at who has ended without taking it away, and has the broker read that account first.
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "resident/calls.h"
#include "resident/request.h"

namespace anyperf::resident {

namespace {

using engine::address_of;

/// Whom a call waits for, as waitid(2) says it.
struct Awaited {
    std::uint64_t kind = P_ALL;
    std::uint64_t id = 0;
    std::uint64_t options = 0;
};

/// wait4(2), "The value of pid".
Awaited awaited_by_wait4(const Call& call) {
    const auto pid = static_cast<std::int32_t>(call.argument[0]);
    const std::uint64_t options = static_cast<std::uint32_t>(call.argument[2]);
    if (pid > 0) return {P_PID, static_cast<std::uint64_t>(pid), options | WEXITED};
    if (pid == -1) return {P_ALL, 0, options | WEXITED};
    return {P_PGID, static_cast<std::uint64_t>(-std::int64_t{pid}), options | WEXITED};
}

}  // namespace

bool wait_for_child(Call& call, long& answer) {
    if (!hosted(call.engine) || __atomic_load_n(&call.engine.run->events_used, __ATOMIC_ACQUIRE) == 0) return false;
    const Awaited awaited = call.number == __NR_wait4 ? awaited_by_wait4(call)
                                                      : Awaited{call.argument[0], call.argument[1], call.argument[3]};
    if ((awaited.options & WEXITED) == 0) return false;
    siginfo_t about{};
    Call look = call;
    look.number = __NR_waitid;
    look.argument[0] = awaited.kind;
    look.argument[1] = awaited.id;
    look.argument[2] = address_of(&about);
    look.argument[3] = awaited.options | WNOWAIT;
    look.argument[4] = 0;
    const long got = look.pass();
    if (got == engine::kBeginAgain || got == -EINTR) {
        answer = got;
        return true;
    }
    const bool killed = got == 0 && about.si_pid != 0 && (about.si_code == CLD_KILLED || about.si_code == CLD_DUMPED);
    if (killed) Ask{call.thread, RequestKind::reaping}.with(0, static_cast<std::uint64_t>(about.si_pid)).send();
    return false;
}

}  // namespace anyperf::resident
