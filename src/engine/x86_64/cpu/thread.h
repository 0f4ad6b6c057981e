// thread.h: one thread of the application as the engine sees it. AgentState (agent/agent_state.h) has what the agent
// keeps for the thread.
//
// %gs holds the address of the Thread while application code runs. Translated code addresses its fields by constant
// offsets: counters, spill slots, the reason of an exit. So the code cache holds no thread's address, and all threads
// of a process share one translation. The application's own gs base is kept in `gs_base` and is applied by software
// (copy_instruction.cpp). Fields that translated code uses must stay within the reach of a 32-bit displacement, and a
// change of their order needs no change elsewhere: the emitters use offsetof.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/instrumentation/debug_registers.h"
#include "engine/instrumentation/record_stream.h"
#include "engine/instrumentation/state.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/cpu/readable.h"
#include "engine/x86_64/cpu/registers.h"
#include "models/branches/branch_unit.h"
#include "run/run_state.h"

namespace anyperf::agent {
struct AgentState;
}

namespace anyperf::engine {
struct Engine;
struct ExecMemory;
struct SignalState;
struct ThreadModels;
}  // namespace anyperf::engine

namespace anyperf::engine::x86_64 {

/// Why translated code returned to the engine, and what Thread::exit_payload holds then.
enum class ExitReason : std::uint32_t {
    unlinked_exit,  ///< a direct exit that is not linked; payload: its ExitId
    lookup_miss,    ///< no indirect entry for Thread::missed_target in the table; no payload
    budget,         ///< a segment's charge took its lane below zero, and it has not run; payload: segment.h
    emulate,        ///< an instruction that the engine executes: syscall, cpuid …; payload: the exit after it
    hot,            ///< a block has been executed often and has not run now; payload: its BlockId
    step,           ///< the steps of a part of the turn are used up before a block; payload: steps.h
    breakpoint,     ///< an instruction at a breakpoint, or one that may touch watched memory, has not run; payload: an
                    ///< exit to that instruction
    count,
};

inline constexpr std::size_t kExitReasons = static_cast<std::size_t>(ExitReason::count);

/// Entries of Thread::return_pads. They serve 32 KiB of stack: more than what lies between the calls that a CPU's own
/// predictor of returns remembers.
inline constexpr std::size_t kReturnPads = 4096;

/// The memory of the branch predictors that translated code can use itself (translate/predict.h).
inline constexpr std::size_t kPredictorWords = models::Branches::words(models::BranchUnit{});

/// Room for the most recent lines and pages of a core (models/caches/recent.h). A larger core has them in its own
/// memory.
inline constexpr std::size_t kRecentWords = 2048;

/// Words that count how often blocks are executed, by the low bits of their numbers (traces/trace.cpp).
inline constexpr std::size_t kHeatWords = 4096;

/// The path that a thread has taken since a block became hot: a trace will follow it (engine/traces.h).
struct TracePath {
    static constexpr std::size_t kMost = 40;
    std::uint64_t pc[kMost];     ///< where each leg begins; a leg ends with a branch
    std::uint32_t count;         ///< 0: the thread is on no path
    std::uint32_t instructions;  ///< of all legs
    std::uint32_t depth;         ///< calls that have not returned
    std::uint32_t last_classes;  ///< of the last leg's last instruction (decode/classes.h)
    std::uint64_t last_branch;   ///< the address of that instruction
};

/// How long the turn of a thread lasts (engine/turns/turn_length.h).
struct TurnLength {
    static constexpr std::size_t kLanes = 4;
    /// Steps that may still be made before the engine looks again, in parts: consecutive blocks charge different ones,
    /// because a subtraction from memory waits for the one before it from the same word. Charged by translated code.
    std::int64_t lane[kLanes];
    std::int64_t allotted[kLanes];  ///< what each lane was at first
    std::int64_t weight[kLanes];    ///< the use of each lane of late
    std::int64_t granted;           ///< the sum of the lanes at first
    std::uint64_t retired_before;   ///< instructions that the thread had retired then
    std::uint64_t end;              ///< the turn is used up when so many have; 0: never
    std::uint64_t stop;             ///< it is used up, and ends at exactly this number; 0: it is not used up
    std::uint64_t rate;             ///< instructions of a step, of late
};

inline constexpr std::uint64_t kEngineStackBytes = 65536;
/// A kernel's signal frame takes 3.4 KiB with AVX-512, 12 KiB with AMX.
inline constexpr std::uint64_t kSignalStackBytes = 65536;

struct Thread {
    run::ThreadPage page;                      ///< shared with the broker and with other programs of the run
    run::TupleCounts tuples;                   ///< likewise: what translated code has counted
    Registers registers;                       ///< the application's, while engine code runs
    std::uint64_t spill[kRegisters];           ///< the application's value of a register that a translation borrows
    std::uint64_t lent;                        ///< likewise, of the register that a prologue has used (Mark::lent)
    std::uint64_t lent_to_history;             ///< likewise, of the register that a trace uses (translate/predict.cpp)
    std::uint64_t engine_stack;                ///< top of this thread's stack for engine code
    std::uint64_t next_host;                   ///< host address at which the routine `enter` continues
    std::uint64_t exit_routine[kExitReasons];  ///< by ExitReason
    std::uint64_t dispatch;                    ///< the C++ function that handles every exit
    std::uint64_t deliver;                     ///< the C++ function that `enter` calls while `pending` is set
    std::uint64_t self;                        ///< address of this Thread, to be read through %gs
    std::uint64_t missed_target;               ///< for ExitReason::lookup_miss: the target of the indirect branch
    std::uint32_t exit_payload;                ///< see ExitReason
    ExitReason exit_reason;                    ///< of the last exit
    std::uint32_t pending;                     ///< nonzero: `enter` calls `deliver` before the application continues
    std::uint64_t counts_mispredictions;  ///< nonzero: what translated code predicts wrongly is counted (predict.h)
    TurnLength turn;                      ///< if the thread takes turns
    std::uint64_t gs_base;                ///< the gs base of the application, which %gs does not hold
    std::uint64_t minus_gs_base;          ///< -gs_base: lea subtracts it without touching a flag
    // Translated code uses no field below this line, except the recorded branches, the open calls, the records, the
    // words for rdpmc, the return pads, the heat, the watchpoint filter and the predictors.
    std::uint64_t in_place_pc;  ///< the instruction that runs untranslated (Routines::run_in_place); may be 0
    bool is_running_in_place;   ///< in_place_pc is valid: the next fault or trap belongs to that instruction
    bool owned_by_parent;       ///< the child of a vfork: its parent frees this memory
    bool stepping;              ///< the trap flag is set until the host reaches the start of an instruction
    bool alarmed;               ///< the timer has expired and the agent has not yet seen it
    bool syscall_restarted;     ///< the kernel entered the last system call and asks for a restart
    bool in_cache;              ///< it may be in translated code, or holds numbers of cache records (block_at.h)
    bool exit_requested;        ///< another thread waits until this one has left translated code; set by that thread
    Thread* next_thread;        ///< list of the process's threads, unordered; under the cache's lock
    bool attached;              ///< `tuples` follows the process's table of tuples; under the cache's lock
    bool instructions_are_settled;       ///< settled_instructions is valid; set once, by the thread itself
    std::uint64_t settled_instructions;  ///< what `tuples` had counted when the thread's first limited budget began
    GuardedRun reading;                  ///< active while the engine reads application code
    ExecMemory* exec_memory;             ///< of an exec by this thread (threads/exec_memory.h); null: none
    std::int32_t tid;
    std::uint32_t process;             ///< index of its ProcessRecord
    std::uint32_t page_number;         ///< of `page` in the run's memory; ~0: a private page that is not shared
    std::uint32_t inheritance;         ///< the number that hooks::before_clone returned in its parent
    std::uint32_t creating_syscall;    ///< number of the system call that created it
    std::uint64_t set_child_tid;       ///< where `tid` is stored at the start (CLONE_CHILD_SETTID); 0: nowhere
    std::uint64_t retired_at_look;     ///< what had retired when it last looked at the clock (engine/time)
    std::uint32_t turn_slot;           ///< its slot; 0: it takes no turns
    std::uint64_t robust_list;         ///< its robust futexes (set_robust_list(2)), if it takes turns
    std::uint64_t clear_child_tid;     ///< where the kernel writes 0 when it ends (set_tid_address(2))
    std::uint64_t faults_at_entry[2];  ///< minor, major page faults when the agent last counted the program's, and
                                       ///< since then those of the engine's memory
    bool faults_run;                   ///< what the kernel has counted since then are faults of the program
    bool locates_faults;               ///< an event samples page faults: each is counted where it was
    std::uint8_t quiet_visits;         ///< counted modulo 256, while page faults are not located
    bool quiet_memory_touched;         ///< the pages that quiet visits use are there (engine/memory/page_faults.h)
    bool page_faulted;  ///< the instruction at `registers` has caused a page fault that the agent must still see; the
                        ///< instruction will be repeated
    std::uint64_t faulted_address;  ///< the address that the instruction accessed when it faulted
    std::uint64_t signal_stack;     ///< lowest address of the stack on which the engine's signal handlers run
    std::uint64_t mapping_bytes;    ///< of the whole mapping that holds this Thread, guard pages included
    SignalState* signals;
    Engine* engine;
    agent::AgentState* agent;               ///< the agent's part, never null; the engine does not look into it
    bool grant_is_exact;                    ///< the whole grant must retire before the agent has anything to do
    ThreadInstrumentation instrumentation;  ///< breakpoints, watched memory and branch kinds of this thread
                                            ///< (engine/instrumentation/instrumentation.h)
    DebugRegisters debug;                   ///< that its tracer has set
    bool traps_each;                        ///< the application has set its trap flag (engine/trap_flag.h)
    std::uint64_t trapped_pc;               ///< while `traps_each`: the instruction that is about to run; 0: none
    SingleStep single_step;                 ///< whether it executes a single instruction between two hooks of the agent
    /// Written by translated code while branches are recorded (x86_64/instrumented/record_branches.cpp).
    RecordedBranches recorded_branches;
    RecordedBranches call_stack;  ///< calls that have not returned
    OpenCallsState open_calls;    ///< written by translated code, too (x86_64/instrumented/note_calls.cpp)
    ThreadModels* models;         ///< null: this thread's caches and branches are not modelled (engine/modelling)
    /// Written by translated code while some thread of the process is modelled
    /// (x86_64/translate/record_accesses.cpp).
    RecordStream records;
    ReadableWords readable;  ///< read and written by translated code, too
    /// Where the return of the newest call with its return address at such a place on the stack continues: the address
    /// of a pad (x86_64/translate/returns.cpp). The index is bits 3 to 14 of the place. Each is always the address of
    /// code that may be entered with the state that a return leaves.
    std::uint64_t return_pads[kReturnPads];
    std::uint64_t return_pad_mask;   ///< the bits of rsp that are an index of it
    std::uint16_t heat[kHeatWords];  ///< counted by translated code; a block is hot when its word runs over
    TracePath path;
    /// Read by translated code before it accesses memory (x86_64/instrumented/breakpoints.cpp). At the end, because it
    /// is large and seldom used.
    std::uint8_t watchpoint_filter[kWatchpointFilterEntries];
    /// Read by translated code while it compares accesses with them (x86_64/accesses/check_accesses.cpp). Other
    /// threads write it, too, under the models' lock: they take lines away.
    alignas(64) std::uint64_t recent[kRecentWords];
    /// Read and written by translated code while branches are predicted there. Its pages are touched only then.
    alignas(4096) std::uint64_t predictors[kPredictorWords];
};

static_assert(offsetof(Thread, page) == 0 && offsetof(Thread, tuples) == sizeof(run::ThreadPage));

/// The counts of a thread.
inline run::ThreadCounts counts_of(const Thread& thread) {
    const bool settled = __atomic_load_n(&thread.instructions_are_settled, __ATOMIC_ACQUIRE);
    return {thread.page.counters, thread.tuples, settled ? &thread.settled_instructions : nullptr};
}

/// Notes that the thread's tuples count no instructions any more, because the budget does. The thread is the caller,
/// and all code that it will run from here on is budgeted.
inline void settle_instructions(Thread& thread) {
    if (thread.instructions_are_settled) return;
    thread.settled_instructions = thread.tuples.count(0);
    __atomic_store_n(&thread.instructions_are_settled, true, __ATOMIC_RELEASE);
}

/// Instructions that the thread has retired.
inline std::uint64_t retired_by(const Thread& thread) {
    return counts_of(thread).count(0);
}

/// Sets the gs base that the application sees; %gs itself keeps the address of the Thread.
inline void set_gs_base(Thread& thread, std::uint64_t base) {
    thread.gs_base = base;
    thread.minus_gs_base = -base;
}

/// The calling thread. Valid wherever %gs is set (engine/threads/thread_memory.h), in signal handlers too.
inline Thread& this_thread() {
    Thread* thread;
    asm("mov %%gs:%c1, %0" : "=r"(thread) : "i"(offsetof(Thread, self)));
    return *thread;
}

}  // namespace anyperf::engine::x86_64
