// locks.cpp: locks of files. A lock that another thread of the run holds is tried again whenever a descriptor has been
// closed or a lock given back.
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

#include "engine/syscalls/turn_calls.h"

namespace anyperf::engine::turn_calls {

namespace {

/// Perhaps a process outside of the run holds the lock: tries again.
bool watch_lock(void*, int milliseconds) {
    const timespec time{0, milliseconds * 1'000'000L};
    kernel_call(__NR_nanosleep, address_of(&time), 0);
    return true;
}

/// Makes the call, which doesn't wait, until the lock is free.
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
