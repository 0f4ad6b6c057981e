// engine_hooks.cpp: the hooks that the engine calls. Each one calls the function of the agent that does the work.
// engine/hooks.h has the contracts.
#include "engine/hooks.h"

#include "agent/clocks.h"
#include "agent/faults/fault_counts.h"
#include "agent/faults/fault_traps.h"
#include "agent/lifecycle/tasks.h"
#include "agent/lifecycle/user_memory.h"
#include "agent/probes/breakpoint_hits.h"
#include "agent/probes/probe_hits.h"
#include "agent/read_counter.h"
#include "agent/sampling/clock_sampling.h"
#include "agent/sampling/overflow_budget.h"
#include "agent/sampling/update_active_events.h"
#include "agent/syscalls/dispatch.h"
#include "agent/syscalls/event_syscalls.h"
#include "agent/syscalls/traced_syscall.h"

namespace anyperf::engine::hooks {

// Processes and threads.

void at_process_start(Thread& thread, bool executed) {
    agent::begin_process(thread, executed);
}

std::uint64_t record_time(const Engine& engine) {
    return agent::record_clock(engine);
}

void change_user_memory(Thread& thread) {
    agent::change_user_memory(thread);
}

void before_exec(Thread& thread, std::string_view name) {
    agent::announce_exec(thread, name);
}

void at_thread_start(Thread& thread) {
    agent::begin_thread(thread);
}

std::uint32_t before_clone(Call& call, std::uint64_t clone_flags, std::uint32_t page) {
    return agent::announce_child(call, clone_flags, page);
}

void after_clone(Call& call, std::uint32_t inheritance, long tid) {
    agent::report_child(call, inheritance, tid);
}

void at_thread_end(Thread& thread, bool whole_process) {
    agent::end_thread(thread, whole_process);
}

void discard_thread(Thread& thread) {
    agent::discard_thread(thread);
}

// Safepoints and budgets.

void serve_safepoint_request(Thread& thread) {
    agent::update_active_events(thread);
}

void at_timer_expiry(Thread& thread) {
    agent::sample_clocks(thread);
}

void at_budget_end(Thread& thread) {
    agent::grant_next_budget(thread);
}

bool read_counter(Thread& thread, std::uint32_t counter, std::uint64_t& value) {
    return agent::read_counter(thread, counter, value);
}

// Single instructions and return targets.

void before_single_step(Thread& thread) {
    agent::report_execution(thread);
}

void after_single_step(Thread& thread) {
    agent::report_accesses(thread);
}

void at_return_target(Thread& thread) {
    agent::report_probe_return(thread);
}

// Page faults.

bool is_ring_fault(const Thread& thread, std::uint64_t address) {
    return agent::is_protected_record(thread, address);
}

void after_translated_code(Thread& thread, std::uint64_t next) {
    agent::add_page_faults(thread, next);
}

void before_translated_code(Thread& thread) {
    agent::begin_counting_page_faults(thread);
}

void at_page_fault(Thread& thread) {
    agent::report_page_fault(thread);
}

// System calls.

void before_syscall(Call& call) {
    agent::report_syscall_entry(call);
}

void after_syscall(Call& call, long answer) {
    agent::report_syscall_return(call, answer);
}

bool handle_syscall(Call& call, long& answer) {
    return agent::handle_event_syscall(call, answer);
}

void after_engine_syscall(Call& call, long answer) {
    agent::follow_syscall(call, answer);
}

}  // namespace anyperf::engine::hooks
