// fault_counts.cpp: counts page faults of the application's own code. The kernel's count of a thread's faults
// (getrusage(2)) includes those of the engine. So, while an event counts faults, this count is read when the thread
// enters and leaves translated code, and only its growth in between is added. Where a visit of the engine is quiet
// (engine/memory/page_faults.h), the thread counts as being in translated code. The CPU does not execute the
// application's own code, so it does not fault on it. Therefore add_page_faults() reads a byte of the code that comes
// next, and counts the fault if there is one; in a quiet visit the translator reads the code.
#include "agent/faults/fault_counts.h"

#include "agent/agent_state.h"
#include "agent/faults/fault_traps.h"
#include "engine/freestanding/thread_faults.h"
#include "engine/memory/page_faults.h"
#include "engine/threads/counting.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

using engine::at_address;
using engine::PageFaults;
using engine::Thread;

namespace {

void set_baseline(Thread& thread, const PageFaults& now) {
    thread.faults_at_entry[0] = now.minor;
    thread.faults_at_entry[1] = now.major;
}

/// Counts the faults since the baseline, and sets it anew. Returns whether there were any.
bool count_faults(Thread& thread) {
    const PageFaults now = engine::faults_of_thread();
    const bool any = now.minor != thread.faults_at_entry[0] || now.major != thread.faults_at_entry[1];
    thread.page.faults[0] += now.minor - thread.faults_at_entry[0];
    thread.page.faults[1] += now.major - thread.faults_at_entry[1];
    set_baseline(thread, now);
    thread.agent->faults_unchecked = thread.agent->faults_unchecked || any;
    return any;
}

/// Reads a byte of the code at `pc`. Without the engine the CPU would fetch it, and fault if the page is not there.
void touch_code(std::uint64_t pc) {
    char byte = 0;
    engine::x86_64::guarded_copy(&byte, at_address<const char>(pc), 1);
}

}  // namespace

void add_page_faults(Thread& thread, std::uint64_t next) {
    thread.faults_run = false;
    if (thread.agent->fault_traps == nullptr) {
        // Nobody asks which address faulted, so one call of the kernel serves both.
        touch_code(next);
        count_faults(thread);
    } else {
        count_faults(thread);
        touch_code(next);
        if (count_faults(thread)) {
            thread.page_faulted = true;
            thread.faulted_address = next;
        }
    }
    // The code at `next` may be a system call that disables the event, so overflows are handled before it. An exit for
    // the budget is different: a segment was charged and has not run, so counts are not exact. Such a segment is never
    // a system call.
    if (!thread.agent->faults_unchecked || thread.page_faulted ||
        thread.exit_reason == engine::x86_64::ExitReason::budget)
        return;
    thread.agent->faults_unchecked = false;
    thread.registers.rip = next;
    handle_fault_overflows(thread);
}

void begin_counting_page_faults(Thread& thread) {
    if (thread.page_faulted)
        engine::set_budget(thread, 0);  // the code itself faulted: the next grant handles the overflow
    set_baseline(thread, engine::faults_of_thread());
    thread.faults_run = true;
}

void end_quiet_counting(Thread& thread) {
    if (thread.page.faults_are_counted == 0 || !thread.faults_run) return;
    count_faults(thread);
    thread.faults_run = false;
}

}  // namespace anyperf::agent
