// locks.cpp: locks of files. A thread that cannot get a lock tries again whenever a thread of the run has closed a
// descriptor or released a lock.
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

#include "engine/syscalls/turn_calls.h"

namespace anyperf::engine::turn_calls {

namespace {

/// Sleeps, then lets the thread try again: a process outside of the run may have held the lock.
bool watch_lock(void*, int milliseconds) {
    const timespec time{0, milliseconds * 1'000'000L};
    kernel_call(__NR_nanosleep, address_of(&time), 0);
    return true;
}

/// Repeats the call, which does not wait, until it gets the lock.
bool try_until_free(Call& call, long& answer) {
    const turns::Wait wait{.kind = run::TurnWait::descriptor, .watch = watch_lock};
    for (;;) {
        answer = call.pass_to_kernel();
        if (answer != -EAGAIN && answer != -EACCES) return true;
        if (wait_or_interrupt(call.thread, wait, true, answer) == Ended::interrupted) return true;
    }
}

}  // namespace

bool file_lock(Call& call, long& answer) {
    if ((call.argument[1] & (LOCK_NB | LOCK_UN)) != 0) return false;
    call.argument[1] |= LOCK_NB;
    return try_until_free(call, answer);
}

bool record_lock(Call& call, long& answer) {
    constexpr std::uint64_t kOfFileWait = 38;  // F_OFD_SETLKW
    constexpr std::uint64_t kOfFile = 37;      // F_OFD_SETLK
    if (call.argument[1] != F_SETLKW && call.argument[1] != kOfFileWait) return false;
    call.argument[1] = call.argument[1] == kOfFileWait ? kOfFile : std::uint64_t{F_SETLK};
    return try_until_free(call, answer);
}

}  // namespace anyperf::engine::turn_calls
