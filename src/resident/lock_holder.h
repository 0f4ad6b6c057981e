// lock_holder.h: whether who holds a PageLock will ever leave it: for threads of a run, and for the broker.
#pragma once

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cstdint>

#include "engine/freestanding/kernel.h"

namespace anyperf::resident {

/// Gives way, and says whether the thread is gone. One that was killed can be sent signals until its parent has fetched
/// it, which may wait for this very lock; but it has no memory any more.
inline bool yield_and_look_whether_gone(std::int32_t holder) {
    using engine::address_of;
    using engine::kernel_call;
    kernel_call(__NR_sched_yield);
    const auto tid = static_cast<std::uint64_t>(holder);
    if (kernel_call(__NR_tkill, tid, 0) == -ESRCH) return true;
    char byte = 0;
    const iovec here{&byte, 1};
    const iovec there{nullptr, 1};
    return kernel_call(__NR_process_vm_readv, tid, address_of(&here), 1, address_of(&there), 1, 0) == -ESRCH;
}

}  // namespace anyperf::resident
