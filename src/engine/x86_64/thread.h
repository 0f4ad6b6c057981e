// thread.h: what a thread of the application is to the engine. It stands at %gs while the application's code runs:
// translated code addresses it by constant offsets, so every field that such code touches keeps its place here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/run_state.h"
#include "engine/watches.h"
#include "engine/x86_64/effective_address.h"
#include "engine/x86_64/guarded_copy.h"
#include "engine/x86_64/registers.h"

namespace anyperf::engine {
struct Engine;
struct SignalState;
}  // namespace anyperf::engine

namespace anyperf::engine::x86_64 {

/// Why translated code gave control back. `Thread::payload` is what each says.
enum class Leave : std::uint32_t {
    link,         ///< a direct exit not linked yet; payload: the exit
    table_empty,  ///< an indirect target that the table does not have; `miss`
    budget,       ///< the budget went below zero at a segment's start, it has not run; payload: which (segment.h)
    step,         ///< an instruction that the engine does: syscall, cpuid …; payload: the exit behind it
    watch,        ///< an instruction whose address or memory is watched, not run; payload: an exit to it
    count,
};

inline constexpr std::size_t kLeaves = static_cast<std::size_t>(Leave::count);

struct Thread {
    ThreadPage page;                       ///< shared with who counts
    Registers registers;                   ///< the application's, while engine code runs
    std::uint64_t spill[kRegisters];       ///< a register's value while a translated instruction borrows it
    std::uint64_t engine_stack;            ///< top of the engine's stack of this thread
    std::uint64_t next_host;               ///< where `enter` goes on
    std::uint64_t leave_routine[kLeaves];  ///< by Leave
    std::uint64_t dispatch;                ///< the C++ function behind all leaves
    std::uint64_t deliver;                 ///< where `enter` goes instead while a signal is pending
    std::uint64_t self;
    std::uint64_t miss;  ///< the target that was looked for
    std::uint32_t payload;
    Leave reason;
    std::uint32_t pending;        ///< nonzero: a signal waits to be delivered before the application goes on
    std::uint64_t gs_base;        ///< the application's own, which %gs does not hold
    std::uint64_t minus_gs_base;  ///< for taking it off again without a flag
    // From here on translated code touches nothing.
    std::uint64_t probing;  ///< the address that the CPU was sent to, only to make it fault; it may be 0
    bool is_probing;
    bool owned_by_parent;    ///< of a vfork, whose parent gives this memory back
    bool stepping;           ///< the trap flag is on, until the host stands at an instruction's start
    bool alarmed;            ///< its alarm has gone off, and nobody has looked yet
    bool syscall_restarted;  ///< the kernel has begun the last system call and wants it begun anew
    bool inside;          ///< it may be in translated code, or refers to what the cache has of it (engine/block_at.h)
    bool asked_out;       ///< somebody waits for it to leave translated code
    Thread* next_thread;  ///< of the process, in no order
    GuardedRun reading;   ///< of application code, by the engine
    void* exec_memory;    ///< what an exec of this thread's works with, and its size; null: none
    std::uint64_t exec_bytes;
    std::int32_t tid;
    std::uint32_t process;             ///< number of its process's record
    std::uint32_t page_number;         ///< of `page` in the run's memory; ~0: it is this thread's own
    std::uint32_t inheritance;         ///< what attached::before_clone gave its parent for it
    std::uint32_t alarm;               ///< a timer of who is attached, counted from 1; 0: there is none
    std::uint32_t made_by;             ///< the system call that made it
    std::uint64_t set_child_tid;       ///< where its maker wants its id before it runs; 0: nowhere (clone(2))
    std::uint64_t clear_child_tid;     ///< where the kernel writes 0 when it ends
    std::uint64_t switches[2];         ///< voluntary, involuntary: of who is attached, as they were last looked at
    std::uint64_t call_entered;        ///< ns of CLOCK_MONOTONIC, while those are told of
    bool tells_switches;               ///< those are told of
    std::uint32_t own_waits;           ///< of who is attached, for answers, since then
    std::uint64_t told_call;           ///< behind a system call that is begun again and has been told of already
    void* mailbox;                     ///< of who is attached
    void* probed;                      ///< of who is attached: places in files that its events watch; null: none
    std::uint64_t faults_at_entry[2];  ///< of the thread, when it last entered the application's code while watched
    std::uint64_t accessed_last;       ///< the address of memory that this instruction named; 0: none, or unknown
    std::uint64_t
        retired_last;  ///< address of the instruction before `registers`, where a budget has ended; 0: unknown
    std::uint64_t signal_stack;  ///< lowest address of the stack that the kernel runs our handlers on
    std::uint64_t block_bytes;   ///< of this whole mapping, guard pages included
    SignalState* signals;
    Engine* engine;
    bool grant_is_exact;     ///< nothing of who is attached is due before all that was granted has retired
    bool wants_accesses;     ///< samples of who is attached tell of memory
    Accesses accesses_last;  ///< of the instruction at retired_last, if they do
    Watches watches;         ///< what this thread watches (engine/watch.h)
    Alone alone;             ///< it runs one instruction by itself
    std::uint64_t alone_pc;  ///< which one
    Accesses alone_accesses;
    Registers alone_before;     ///< the registers that it began with
    RecordedBranches branches;  ///< written by translated code while branches are recorded, as `calls`
    RecordedBranches calls;
    /// Read by translated code that asks before it touches memory; far from all else, since it is seldom used.
    std::uint8_t watch_filter[kWatchFilterEntries];
};

static_assert(offsetof(Thread, page) == 0);

inline void set_gs_base(Thread& thread, std::uint64_t base) {
    thread.gs_base = base;
    thread.minus_gs_base = -base;
}

/// The thread that runs this code.
inline Thread& this_thread() {
    Thread* thread;
    asm("mov %%gs:%c1, %0" : "=r"(thread) : "i"(offsetof(Thread, self)));
    return *thread;
}

}  // namespace anyperf::engine::x86_64
