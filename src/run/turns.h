// turns.h: which thread of a deterministic run has the turn. All threads of all processes use this part of the run
// memory, which follows RunUse. engine/turns/turns.h has the rules.
//
// The thread that has the turn writes everything here, without a lock. Other threads write only three words,
// atomically: `holder`, and the `state` and `turn` of a slot. By these a thread comes back that was outside, or that a
// signal has woken. A thread that waits also writes `closed` and `asleep` of its slot.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::run {

/// What a thread is doing. Only a `running` one may execute the application's instructions.
enum class TurnState : std::uint32_t {
    free,      ///< the slot has no thread
    ready,     ///< it waits for its turn, in the order of `ticket`
    running,   ///< it has the turn
    waiting,   ///< it waits for `TurnSlot::wait`
    outside,   ///< it is in a call of the kernel without having the turn, or stopped
    arriving,  ///< it wants to be `ready`; the thread with the turn changes its state
    ended,     ///< it has given its last turn away, and the kernel is about to remove it
};

/// What a thread waits for.
enum class TurnWait : std::uint32_t { nothing, futex, futexes, futex_lock, child, descriptor, signal, time, vfork };

/// Why a wait ended.
enum class TurnEnd : std::uint32_t { woken, timed_out, interrupted };

/// The values of a slot's `turn`. Its thread sleeps on that word.
enum TurnWord : std::uint32_t {
    kTurnNone,
    kTurnGiven,
    kTurnWatch,  ///< no thread can run: this one waits in the kernel
    kTurnEnd,    ///< the run ends, since all threads wait for each other
};

/// A futex: an address of an address space, or a place in a shared object. Zeros: none.
struct TurnKey {
    std::uint64_t space;  ///< number of the address space, or the object's device and inode
    std::uint64_t place;  ///< the address, or the offset in the object

    bool operator==(const TurnKey&) const = default;
};

inline constexpr std::uint64_t kNoDeadline = ~std::uint64_t{0};

/// Whether a thread can wait in the kernel for what it waits for, and where that may come from.
enum class TurnWatch : std::uint32_t {
    no,
    inside,   ///< most likely from the run
    outside,  ///< it may come from outside of the run
};

/// Whether a thread waits in the kernel. A thread that gives it the turn sends it a signal then.
enum TurnWatching : std::uint32_t {
    kNotWatching,
    kWatching,
    kBeingInterrupted,  ///< the signal is being sent
};

/// What a thread waits for in the kernel, if it has found that only threads of the run can end that wait.
enum class TurnClosed : std::uint32_t {
    no,  ///< something outside of the run may end it, or the thread has not asked yet
    child,
    pipe,
    socket,
    counter,  ///< eventfd(2)
};

/// A thread that takes turns.
struct alignas(256) TurnSlot {
    std::uint32_t state;  ///< a TurnState
    std::uint32_t turn;   ///< a TurnWord; the thread sleeps on it (futex(2))
    std::uint32_t alive;  ///< the kernel clears it when the thread has ended (set_tid_address(2))
    std::int32_t tid;     ///< 0: the thread does not exist yet
    std::int32_t pid;
    std::int32_t shown_tid;  ///< what programs see as its ids (engine/shown_ids.h)
    std::int32_t shown_pid;
    std::uint32_t vfork_parent;  ///< the slot that waits until this one executes another program or ends; 0: none
    std::uint64_t pid_namespace;
    std::uint64_t space;     ///< number of its address space
    std::uint64_t ticket;    ///< its place in the order: the lowest one gets the next turn
    std::uint64_t deadline;  ///< units of the virtual clock; kNoDeadline: none
    std::uint64_t timer;     ///< when the first timer of its process expires; 0 or kNoDeadline: none is armed
    std::uint64_t alarm;     ///< when ITIMER_REAL of its process expires; 0 or kNoDeadline: it is not armed
    std::uint64_t alarm_interval;
    std::uint64_t affinity;  ///< CPUs that it has asked for, a bit each; 0: all
    TurnWait wait;
    TurnEnd end;
    TurnKey key;            ///< of a futex; for a descriptor, `space` is the inode of a pipe, or 0
    std::uint64_t address;  ///< for the report of a deadlock: the futex's address in the application, or the descriptor
    TurnClosed closed;      ///< the thread writes it without having the turn
    std::uint32_t descriptors;  ///< with `closed`: of how many it waits for one; `address` is the first
    std::uint32_t bits;         ///< of FUTEX_WAIT_BITSET
    TurnWatch watches;          ///< whether it can wait in the kernel for this
    std::uint32_t watching;     ///< a TurnWatching
    std::uint32_t holds_on;     ///< it keeps the turn however long it sleeps: it waits for nothing that the run does
    std::uint32_t vector;       ///< of the futexes that it waits for at once; 0: none
    std::uint32_t is_low;       ///< with RunHeader::has_priorities: there are times in which others come first
    std::uint32_t asleep;       ///< it sleeps on `turn`, or is about to: who writes that word wakes it
    std::uint32_t used_up;      ///< how many turns it has used up one after another, without waiting
    std::int32_t parent_pid;    ///< the kernel's id of the process that has made its process; 0: none of the run
    std::int32_t forked_by;     ///< the shown id of the thread that has: the kernel sends SIGCHLD to it if it can
    std::uint64_t last_end;     ///< where the last of them has ended
    std::uint64_t blocked;      ///< its signal mask when it gave its turn away
    std::uint64_t caught;       ///< signals for which its process has a handler
    std::uint64_t ignored;      ///< signals that its process ignores
    std::uint32_t has_no_end;   ///< its turn lasts until it makes a system call after which another thread is ready
};
static_assert(sizeof(TurnSlot) == 256);

inline constexpr std::uint32_t kTurnSlots = 4000;  ///< their numbers begin at 1
inline constexpr std::uint32_t kTurnOutsiders = 64;

/// The first id of a process or thread that programs see: that of the process which has started the run. The kernel has
/// none so high (PID_MAX_LIMIT in linux/threads.h is 4,194,304), so no number can mean two threads.
inline constexpr std::int32_t kFirstShownId = 5'000'000;
inline constexpr std::uint32_t kShownIds = 1u << 18;

/// One of several futexes for which a thread waits at once.
struct TurnFutex {
    TurnKey key;
    std::uint64_t ticket;  ///< its place among those that wait for the same futex
};

/// The futexes of a thread in futex_waitv(2).
struct TurnVector {
    static constexpr std::uint32_t kMost = 128;  ///< FUTEX_WAITV_MAX in linux/futex.h
    static constexpr std::uint32_t kNone = ~0u;

    std::uint32_t slot;   ///< of the thread; 0: the vector is free. Also free if that slot has another vector or none
    std::uint32_t count;  ///< of futexes
    std::uint32_t woken;  ///< the index of the futex that was woken, of several the last one; kNone: none yet
    TurnFutex futex[kMost];
};
inline constexpr std::uint32_t kTurnVectors = 1024;  ///< their numbers begin at 1

/// A pipe, terminal or socket that the run's first program was given.
struct TurnOutsider {
    std::uint64_t device;
    std::uint64_t inode;
};

/// The state of all turns.
struct Turns {
    std::uint32_t holder;           ///< the slot that has the turn; 0: no thread can run
    std::uint32_t slots_used;       ///< slots 1 to this one have been used
    std::uint64_t tickets;          ///< how many were given out
    std::uint64_t turns;            ///< how many were given
    std::uint64_t random;           ///< state of the generator of the turns' lengths
    std::uint64_t spaces;           ///< how many address spaces have got a number
    std::uint64_t objects;          ///< how many shared anonymous memories have got a number
    std::uint32_t leaving;          ///< the slot that has given its last turn away and has not ended; 0: none
    std::uint32_t leaving_process;  ///< nonzero: its whole process ends
    std::uint32_t others_ready;     ///< nonzero: a thread has become ready since the holder's turn got its end or none
    std::uint64_t low_from;         ///< times of the run's clock between which threads of low priority come last
    std::uint64_t low_until;
    std::uint32_t descriptors_passed;  ///< nonzero: others may have descriptors of the run, or the run some of theirs
    std::uint32_t outsiders;
    TurnOutsider outsider[kTurnOutsiders];
    std::uint64_t pid_namespace;      ///< of the run's first program: ids of others are not translated
    std::uint32_t shown_ids;          ///< given out
    std::int32_t real_id[kShownIds];  ///< the kernel's id of kFirstShownId + index; 0: its thread is about to be made
    TurnSlot slot[kTurnSlots + 1];
    TurnVector vector[kTurnVectors + 1];
};

inline constexpr std::size_t kTurnsOffset = 4096;

}  // namespace anyperf::run
