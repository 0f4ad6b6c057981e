// agent_state.h: the agent's state of one thread; the engine's Thread points to it. Only the thread itself uses it,
// except where a parent frees the memory of its vfork's child. It is part of the thread's own memory and begins as
// zeros (engine/threads/thread_memory.cpp). The child of a fork begins with a copy of its parent's. begin_process()
// resets mailbox, alarm, pace, switches, probes and fault traps; a stale value of any other member causes at most one
// needless check.
#pragma once

#include <cstdint>
#include <type_traits>

#include "agent/sampling/branches/branch_cycles.h"
#include "engine/hooks.h"
#include "engine/x86_64/decode/effective_address.h"

namespace anyperf::run {
struct Mailbox;
}

namespace anyperf::agent {

struct ThreadProbes;  // probes/probes.h

struct AgentState {
    run::Mailbox* mailbox;             ///< for the broker's answers; null: not mapped (broker_request.cpp)
    std::uint32_t waits_since_switch;  ///< sleeps for the broker since `context_switches` was read

    // lifecycle/context_switches.cpp
    bool reports_switches;              ///< context switches are recorded
    std::uint64_t context_switches[2];  ///< voluntary, involuntary, when they were last read
    std::uint64_t syscall_entered_ns;   ///< CLOCK_MONOTONIC, while `reports_switches`; 0: unknown

    // syscalls/traced_syscall.cpp
    std::uint64_t reported_call;  ///< return address of a call that restarts and has been reported; 0: none

    // sampling
    bool moved_unreported;          ///< the broker does not know the thread's CPU yet (broker_request.cpp)
    std::uint32_t alarm;            ///< id of the sampling clock's POSIX timer, plus 1; 0: none (clock_sampling.cpp)
    std::uint64_t last_retired_pc;  ///< the last instruction that retired before a budget ended; 0: unknown
    engine::x86_64::Accesses last_accesses;  ///< of the instruction at last_retired_pc, if `wants_accesses`
    bool last_is_atomic;                     ///< whether these are atomic
    bool wants_accesses;                     ///< samples describe memory accesses
    KnownCycles branch_cycles;               ///< of branch entries
    std::uint64_t retired_at_begin;          ///< when the program or thread began: retired instructions, and
    std::uint64_t cost_at_begin;             ///< modelled_cost() (begin_pace())
    std::uint64_t python_thread;             ///< address of the thread's PyThreadState when it was last found

    // faults
    void* fault_traps;               ///< mapping of the kernel's event of page faults; null: not open (fault_traps.h)
    bool faults_unchecked;           ///< page faults were counted, but not yet checked for overflows
    std::int64_t fault_stretch;      ///< without fault_traps: instructions until page faults are polled again
    std::uint64_t faults_looked_at;  ///< without fault_traps: page faults at the last poll

    // probes
    ThreadProbes* probes;                             ///< null until the thread first has a uprobe or breakpoint event
    engine::x86_64::Accesses single_step_accesses;    ///< of the instruction that runs by itself (breakpoint_hits.cpp)
    engine::x86_64::Registers registers_before_step;  ///< the registers with which that instruction began
};

static_assert(sizeof(AgentState) <= engine::hooks::kAgentStateBytes);
static_assert(std::is_trivially_copyable_v<AgentState> && std::is_trivially_destructible_v<AgentState>);

}  // namespace anyperf::agent
