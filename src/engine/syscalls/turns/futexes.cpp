// futexes.cpp: futex(2) between threads that take turns.
//
// The kernel's futexes wake threads that then run at the same time as others, in an order that differs from run to run.
// So no thread waits in the kernel here. A waiting thread has a slot with the key of its futex (shared_places.cpp), the
// address and the bits of FUTEX_WAIT_BITSET; a wake looks for the slots with its key, in the order in which they began
// to wait. A wait compares the word and queues the thread while that thread has the turn, so no other thread of the run
// can change the word in between: the race that the kernel's hash bucket lock closes does not exist.
//
// A PI futex has its owner's thread id in the word (futex(2), "Priority-inheritance futexes"). Unlocking writes the id
// of the first waiter there and makes that one ready. Robust futexes are released at the end of a thread as by the
// kernel (kernel/futex/core.c, exit_robust_list()). Priorities are ignored: the order of turns is that of arrival.
#include <errno.h>
#include <linux/futex.h>
#include <time.h>

#include <algorithm>

#include "engine/shown_ids.h"
#include "engine/syscalls/turn_calls.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::turn_calls {

namespace {

using run::TurnKey;
using run::TurnWait;
using turns::Wait;

/// A futex of the call: its word and its key.
struct Futex {
    std::uint64_t address;
    TurnKey key;
    std::uint32_t value = 0;

    bool load() { return x86_64::guarded_read(address, value); }
};

Futex futex_at(const Call& call, std::uint64_t address) {
    return {address, futex_key(call.engine, address, (call.argument[1] & FUTEX_PRIVATE_FLAG) != 0)};
}

/// Whether a futex of the call is not at a multiple of its size.
bool is_misaligned(const Call& call) {
    const std::uint64_t command = call.argument[1] & FUTEX_CMD_MASK;
    const bool has_second = command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE || command == FUTEX_WAKE_OP;
    return command <= FUTEX_LOCK_PI2 &&
           ((call.argument[0] | (has_second ? call.argument[4] : 0)) % sizeof(std::uint32_t)) != 0;
}

std::uint32_t own_id(const Thread& thread) {
    return static_cast<std::uint32_t>(turns::shown_tid(thread));
}

/// A limit on the number of waiters, from an argument that is an int. A negative one is no limit, as in the kernel.
std::uint32_t count_of(std::uint64_t argument) {
    const auto count = static_cast<std::int32_t>(argument);
    return count < 0 ? UINT32_MAX : static_cast<std::uint32_t>(count);
}

/// The deadline of a wait; kNoDeadline without a timeout. False: it is not valid, and `answer` is the error.
bool deadline_of(Call& call, std::uint64_t& deadline, long& answer) {
    deadline = run::kNoDeadline;
    if (call.argument[3] == 0) return true;
    const std::uint64_t command = call.argument[1] & FUTEX_CMD_MASK;
    if (command == FUTEX_WAIT) return deadline_after(call.thread, call.argument[3], deadline, answer);
    timespec time{};
    answer = -EFAULT;
    if (!x86_64::guarded_read(call.argument[3], time)) return false;
    answer = -EINVAL;
    if (ns_of(time) < 0) return false;
    const bool of_day = command == FUTEX_LOCK_PI || (call.argument[1] & FUTEX_CLOCK_REALTIME) != 0;
    deadline =
        units_at(call.engine, of_day ? CLOCK_REALTIME : CLOCK_MONOTONIC, static_cast<std::uint64_t>(ns_of(time)));
    deadline = std::min(deadline, units_from_now(call.thread, INT64_MAX));
    return true;
}

long wait_on(Call& call, std::uint32_t bits) {
    long answer = 0;
    Futex futex = futex_at(call, call.argument[0]);
    Wait wait{.kind = TurnWait::futex, .key = futex.key, .address = futex.address, .bits = bits};
    if (bits == 0) return -EINVAL;
    if (!deadline_of(call, wait.deadline, answer)) return answer;
    if (!futex.load()) return -EFAULT;
    if (futex.value != static_cast<std::uint32_t>(call.argument[2])) return -EAGAIN;
    switch (wait_or_interrupt(call.thread, wait, call.argument[3] == 0, answer)) {
        case Ended::woken: return 0;
        case Ended::timed_out: return -ETIMEDOUT;
        case Ended::interrupted: break;
    }
    return answer;
}

long wake(Call& call, std::uint32_t bits) {
    if (bits == 0) return -EINVAL;
    const Futex futex = futex_at(call, call.argument[0]);
    const std::uint32_t most = std::max<std::uint32_t>(count_of(call.argument[2]), 1);
    return turns::wake_futex(call.engine, futex.key, most, bits);
}

/// FUTEX_REQUEUE and, with a comparison, FUTEX_CMP_REQUEUE.
long requeue(Call& call, bool compares) {
    Futex from = futex_at(call, call.argument[0]);
    const Futex to = futex_at(call, call.argument[4]);
    if (!from.load()) return -EFAULT;
    if (compares && from.value != static_cast<std::uint32_t>(call.argument[5])) return -EAGAIN;
    if (static_cast<std::int32_t>(call.argument[2]) < 0 || static_cast<std::int32_t>(call.argument[3]) < 0)
        return -EINVAL;
    const std::uint32_t woken = turns::wake_futex(call.engine, from.key, count_of(call.argument[2]), ~0u);
    return woken + turns::requeue_futex(call.engine, from.key, to.key, to.address, count_of(call.argument[3]));
}

/// What FUTEX_WAKE_OP makes of the second word. False: there is no such operation.
bool operate(std::uint32_t operation, std::uint32_t argument, std::uint32_t& word) {
    switch (operation & 7) {
        case FUTEX_OP_SET: word = argument; return true;
        case FUTEX_OP_ADD: word += argument; return true;
        case FUTEX_OP_OR: word |= argument; return true;
        case FUTEX_OP_ANDN: word &= ~argument; return true;
        case FUTEX_OP_XOR: word ^= argument; return true;
        default: return false;
    }
}

bool holds(std::uint32_t comparison, std::int32_t word, std::int32_t argument) {
    switch (comparison) {
        case FUTEX_OP_CMP_EQ: return word == argument;
        case FUTEX_OP_CMP_NE: return word != argument;
        case FUTEX_OP_CMP_LT: return word < argument;
        case FUTEX_OP_CMP_GE: return word >= argument;
        case FUTEX_OP_CMP_LE: return word <= argument;
        case FUTEX_OP_CMP_GT: return word > argument;
        default: return false;
    }
}

std::int32_t sign_extended(std::uint32_t twelve_bits) {
    return static_cast<std::int32_t>(twelve_bits << 20) >> 20;
}

long wake_and_operate(Call& call) {
    const auto encoded = static_cast<std::uint32_t>(call.argument[5]);
    const Futex first = futex_at(call, call.argument[0]);
    Futex second = futex_at(call, call.argument[4]);
    auto argument = static_cast<std::uint32_t>(sign_extended(encoded >> 12 & 0xfff));
    const std::uint32_t operation = encoded >> 28;
    const std::uint32_t comparison = encoded >> 24 & 15;
    if ((operation & FUTEX_OP_OPARG_SHIFT) != 0) argument = 1u << (argument & 31);
    if (!second.load()) return -EFAULT;
    std::uint32_t word = second.value;
    if (!operate(operation, argument, word) || comparison > FUTEX_OP_CMP_GE) return -ENOSYS;
    if (!x86_64::guarded_write(second.address, word)) return -EFAULT;
    std::uint32_t woken = turns::wake_futex(call.engine, first.key, std::max(count_of(call.argument[2]), 1u), ~0u);
    if (holds(comparison, static_cast<std::int32_t>(second.value), sign_extended(encoded & 0xfff)))
        woken += turns::wake_futex(call.engine, second.key, std::max(count_of(call.argument[3]), 1u), ~0u);
    return woken;
}

/// Takes a lock that is free. FUTEX_OWNER_DIED stays set, so that the thread sees that the last owner has died.
long take_lock(const Thread& thread, const Futex& futex) {
    return x86_64::guarded_write(futex.address, own_id(thread) | (futex.value & (FUTEX_OWNER_DIED | FUTEX_WAITERS)))
               ? 0
               : -EFAULT;
}

long lock_pi(Call& call, bool only_try) {
    Futex futex = futex_at(call, call.argument[0]);
    if (!futex.load()) return -EFAULT;
    const std::uint32_t owner = futex.value & FUTEX_TID_MASK;
    if (owner == 0) return take_lock(call.thread, futex);
    if (owner == own_id(call.thread)) return -EDEADLK;
    if (only_try) return -EAGAIN;
    long answer = 0;
    Wait wait{.kind = TurnWait::futex_lock, .key = futex.key, .address = futex.address};
    if (!deadline_of(call, wait.deadline, answer)) return answer;
    if (!x86_64::guarded_write(futex.address, futex.value | FUTEX_WAITERS)) return -EFAULT;
    switch (wait_or_interrupt(call.thread, wait, true, answer)) {
        case Ended::woken: return 0;  // the thread that unlocked it has made this one its owner
        case Ended::timed_out: return -ETIMEDOUT;
        case Ended::interrupted: break;
    }
    return answer;
}

/// Unlocks: the first waiter becomes the owner, and FUTEX_WAITERS remains if there are others. `left_behind`: flags
/// that the word keeps.
long hand_over(Engine& engine, const Futex& futex, std::uint32_t left_behind) {
    bool others = false;
    const std::uint32_t heir = turns::first_lock_waiter(engine, futex.key, others);
    std::uint32_t word = left_behind;
    if (heir != 0) {
        const turns::Turns& turns = *engine.turns;
        const turns::TurnSlot& slot = turns.slot[heir];
        const std::int32_t id = turns::shows_ids(turns, engine) ? slot.shown_tid : slot.tid;
        word |= static_cast<std::uint32_t>(id) | (others ? FUTEX_WAITERS : 0);
    }
    if (!x86_64::guarded_write(futex.address, word)) return -EFAULT;
    if (heir != 0) turns::make_ready(engine, heir, run::TurnEnd::woken);
    return 0;
}

long unlock_pi(Call& call) {
    Futex futex = futex_at(call, call.argument[0]);
    if (!futex.load()) return -EFAULT;
    if ((futex.value & FUTEX_TID_MASK) != own_id(call.thread)) return -EPERM;
    return hand_over(call.engine, futex, 0);
}

/// The owner of a robust futex has died (handle_futex_death() in kernel/futex/core.c).
void release_dead(Thread& thread, std::uint64_t address, bool is_lock) {
    Futex futex{address, futex_key(*thread.engine, address, false)};
    if (!futex.load() || (futex.value & FUTEX_TID_MASK) != own_id(thread)) return;
    const std::uint32_t word = (futex.value & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
    if (is_lock) {
        hand_over(*thread.engine, futex, word);
        return;
    }
    if (!x86_64::guarded_write(address, word) || (futex.value & FUTEX_WAITERS) == 0) return;
    // The list does not say whether the futex is private. The kernel takes it for a shared one.
    turns::wake_futex(*thread.engine, futex.key, 1, ~0u);
}

/// struct robust_list_head of linux/futex.h.
struct RobustHead {
    std::uint64_t next;
    std::int64_t offset;
    std::uint64_t pending;
};

}  // namespace

bool futex(Call& call, long& answer) {
    if (is_misaligned(call)) {
        answer = -EINVAL;
        return true;
    }
    const auto third = static_cast<std::uint32_t>(call.argument[5]);
    switch (call.argument[1] & FUTEX_CMD_MASK) {
        case FUTEX_WAIT: answer = wait_on(call, ~0u); break;
        case FUTEX_WAIT_BITSET: answer = wait_on(call, third); break;
        case FUTEX_WAKE: answer = wake(call, ~0u); break;
        case FUTEX_WAKE_BITSET: answer = wake(call, third); break;
        case FUTEX_REQUEUE: answer = requeue(call, false); break;
        case FUTEX_CMP_REQUEUE: answer = requeue(call, true); break;
        case FUTEX_WAKE_OP: answer = wake_and_operate(call); break;
        case FUTEX_LOCK_PI:
        case FUTEX_LOCK_PI2: answer = lock_pi(call, false); break;
        case FUTEX_TRYLOCK_PI: answer = lock_pi(call, true); break;
        case FUTEX_UNLOCK_PI: answer = unlock_pi(call); break;
        default: answer = -ENOSYS; break;
    }
    return true;
}

void release_robust_futexes(Thread& thread) {
    constexpr unsigned kMost = 2048;  // ROBUST_LIST_LIMIT
    const std::uint64_t place = thread.robust_list;
    RobustHead head{};
    if (place == 0 || !x86_64::guarded_read(place, head)) return;
    const auto release = [&](std::uint64_t entry) {
        release_dead(thread, (entry & ~std::uint64_t{1}) + static_cast<std::uint64_t>(head.offset), (entry & 1) != 0);
    };
    std::uint64_t entry = head.next;
    for (unsigned i = 0; i < kMost && (entry & ~std::uint64_t{1}) != place; ++i) {
        std::uint64_t following = 0;
        const bool readable = x86_64::guarded_read(entry & ~std::uint64_t{1}, following);
        if (entry != head.pending) release(entry);
        if (!readable) return;
        entry = following;
    }
    if (head.pending != 0) release(head.pending);
}

void release_futexes(Thread& thread) {
    release_robust_futexes(thread);
    if (thread.clear_child_tid == 0) return;
    constexpr std::uint32_t kGone = 0;
    if (x86_64::guarded_write(thread.clear_child_tid, kGone))
        turns::wake_futex(*thread.engine, futex_key(*thread.engine, thread.clear_child_tid, false), 1, ~0u);
}

bool set_tid_address(Call& call, long& answer) {
    call.thread.clear_child_tid = call.argument[0];
    answer = call.thread.tid;
    return true;
}

// The kernel gets the list as well: it releases the futexes of a thread that is killed.
bool set_robust_list(Call& call, long& answer) {
    answer = call.pass_to_kernel();
    if (answer == 0) call.thread.robust_list = call.argument[0];
    return true;
}

}  // namespace anyperf::engine::turn_calls
