// wait.cpp: wait4(2) and waitid(2). A killed process cannot report how long it has run; the broker reads that from the
// process's zombie. But the parent may reap the zombie before the broker has noticed the death. So, once an event has
// been opened in the run, a thread first waits without reaping (WNOWAIT), and has the broker read the zombie of a child
// that was killed.
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "agent/broker_request.h"
#include "agent/syscalls/event_syscalls.h"

namespace anyperf::agent {

namespace {

using engine::address_of;

/// Which children a call waits for, as the arguments of waitid(2).
struct Awaited {
    std::uint64_t kind = P_ALL;
    std::uint64_t id = 0;
    std::uint64_t options = 0;
};

/// The meaning of `pid` in wait4(2). 0, the caller's own process group, is P_PGID with id 0 in waitid(2).
Awaited awaited_by_wait4(const Call& call) {
    const auto pid = static_cast<std::int32_t>(call.argument[0]);
    const std::uint64_t options = static_cast<std::uint32_t>(call.argument[2]);
    if (pid > 0) return {P_PID, static_cast<std::uint64_t>(pid), options | WEXITED};
    if (pid == -1) return {P_ALL, 0, options | WEXITED};
    return {P_PGID, static_cast<std::uint64_t>(-std::int64_t{pid}), options | WEXITED};
}

}  // namespace

bool wait_for_child(Call& call, long& answer) {
    if (!are_events_used(call.engine)) return false;
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
    const long got = look.pass_to_kernel();
    if (got == engine::kRestartSyscall || got == -EINTR) {
        answer = got;
        return true;
    }
    const bool killed = got == 0 && about.si_pid != 0 && (about.si_code == CLD_KILLED || about.si_code == CLD_DUMPED);
    if (killed)
        BrokerRequest{call.thread, run::RequestKind::reaping}
            .argument(0, static_cast<std::uint64_t>(about.si_pid))
            .send();
    return false;
}

}  // namespace anyperf::agent
