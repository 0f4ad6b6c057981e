// futex_vectors.cpp: futex_waitv(2), a wait for several futexes at once, between threads that take turns. futexes.cpp
// has the reasons; the order of the checks and the errors are those of kernel/futex/syscalls.c and waitwake.c.
#include <errno.h>
#include <linux/futex.h>
#include <time.h>

#include <algorithm>

#include "engine/syscalls/turn_calls.h"
#include "engine/time/virtual_clock.h"
#include "engine/turns/slots.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::turn_calls {

namespace {

using run::TurnVector;
using turns::Wait;

/// struct futex_waitv of linux/futex.h, which headers before Linux 5.16 lack.
struct WaitedFutex {
    std::uint64_t value;
    std::uint64_t address;
    std::uint32_t flags;
    std::uint32_t reserved;
};

constexpr std::uint32_t kSizeOf32Bits = 2;  // FUTEX_32
constexpr std::uint64_t kUserEnd = 0x7ffffffff000;

/// Reads the list. Returns an error, or 0.
long read_list(std::uint64_t from, std::uint64_t count, WaitedFutex (&list)[TurnVector::kMost]) {
    for (std::uint64_t i = 0; i < count; ++i) {
        WaitedFutex& one = list[i];
        if (!x86_64::guarded_read(from + i * sizeof one, one)) return -EFAULT;
        const bool is_private = (one.flags & FUTEX_PRIVATE_FLAG) != 0;
        if (one.flags != (kSizeOf32Bits | (is_private ? FUTEX_PRIVATE_FLAG : 0)) || one.reserved != 0) return -EINVAL;
        if (one.value > UINT32_MAX) return -EINVAL;
    }
    return 0;
}

/// Computes the keys, which the kernel does for all futexes before it compares the first one. Returns an error, or 0.
long find_keys(const Engine& engine, const WaitedFutex (&list)[TurnVector::kMost], TurnVector& vector) {
    for (std::uint32_t i = 0; i < vector.count; ++i) {
        const std::uint64_t address = list[i].address;
        const bool is_private = (list[i].flags & FUTEX_PRIVATE_FLAG) != 0;
        std::uint32_t value = 0;
        if (address % sizeof value != 0) return -EINVAL;
        if (address > kUserEnd - sizeof value) return -EFAULT;
        if (!is_private && !x86_64::guarded_read(address, value)) return -EFAULT;  // the kernel looks up its page
        vector.futex[i] = {futex_key(engine, address, is_private), ++engine.turns->tickets};
    }
    return 0;
}

/// Returns an error if a futex has another value than the one that is expected, or 0.
long compare(const WaitedFutex (&list)[TurnVector::kMost], std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        std::uint32_t value = 0;
        if (!x86_64::guarded_read(list[i].address, value)) return -EFAULT;
        if (value != list[i].value) return -EAGAIN;
    }
    return 0;
}

/// The deadline of the call; kNoDeadline without a timeout. Returns an error, or 0.
long deadline_of(const Call& call, std::uint64_t& deadline) {
    deadline = run::kNoDeadline;
    if (call.argument[3] == 0) return 0;
    const auto clock = static_cast<std::int32_t>(call.argument[4]);
    timespec time{};
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return -EINVAL;
    if (!x86_64::guarded_read(call.argument[3], time)) return -EFAULT;
    if (ns_of(time) < 0) return -EINVAL;
    deadline = std::min(units_at(call.engine, clock, static_cast<std::uint64_t>(ns_of(time))),
                        units_from_now(call.thread, INT64_MAX));
    return 0;
}

/// Waits until one of the futexes is woken. Returns its index, or an error.
long wait_for_one(Call& call, const WaitedFutex (&list)[TurnVector::kMost], TurnVector& vector,
                  std::uint64_t deadline) {
    for (;;) {
        if (const long error = find_keys(call.engine, list, vector); error != 0) return error;
        if (const long error = compare(list, vector.count); error != 0) return error;
        const Wait wait{.kind = run::TurnWait::futexes, .address = list[0].address, .deadline = deadline};
        long answer = 0;
        const Ended ended = wait_or_interrupt(call.thread, wait, true, answer);
        if (ended == Ended::interrupted) return answer;
        if (ended == Ended::timed_out) return -ETIMEDOUT;
        // None was woken if the owner of a robust futex has died: then all waiters look again.
        if (vector.woken < vector.count) return static_cast<long>(vector.woken);
    }
}

}  // namespace

bool futex_waitv(Call& call, long& answer) {
    WaitedFutex list[TurnVector::kMost];
    const auto count = static_cast<std::uint32_t>(call.argument[1]);
    const auto flags = static_cast<std::uint32_t>(call.argument[2]);
    std::uint64_t deadline = 0;
    answer = -EINVAL;
    if (flags != 0 || count == 0 || count > TurnVector::kMost || call.argument[0] == 0) return true;
    answer = deadline_of(call, deadline);
    if (answer == 0) answer = read_list(call.argument[0], count, list);
    if (answer != 0) return true;
    TurnVector* const vector = turns::claim_vector(call.thread);
    answer = -ENOMEM;
    if (vector == nullptr) return true;
    vector->count = count;
    answer = wait_for_one(call, list, *vector, deadline);
    turns::release_vector(call.thread);
    return true;
}

bool later_futex_call(Call&, long& answer) {
    answer = -ENOSYS;
    return true;
}

}  // namespace anyperf::engine::turn_calls
