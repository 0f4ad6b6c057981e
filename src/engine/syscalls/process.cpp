// process.cpp: exit and exit_group, the ends of threads and processes. The thread's counts are written to the run's
// memory, and the agent reports the end before the kernel call, because nothing runs after it. A thread or process that
// is killed does not run this: its counts are read from its thread page (run_records.h).
#include <asm/unistd.h>

#include "engine/exact/exact.h"
#include "engine/freestanding/pages.h"
#include "engine/hooks.h"
#include "engine/save_translations.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/turn_calls.h"
#include "engine/threads/own_faults.h"
#include "engine/threads/run_records.h"
#include "engine/threads/thread_list.h"
#include "engine/threads/thread_memory.h"
#include "engine/time/virtual_clock.h"

namespace anyperf::engine::handlers {

namespace {

/// Frees the thread's memory and ends the thread. That memory has the stack that this code runs on, so both system
/// calls are made without touching the stack in between.
[[noreturn]] void release_and_exit(Thread& thread, std::uint64_t status) {
    remove_thread(thread);
    const OwnPages::Range memory = with_guards(&thread, thread.mapping_bytes);
    own_pages.remove(memory.start, memory.end);
    asm volatile(
        "syscall\n\t"
        "mov %[exit], %%eax\n\t"
        "mov %[status], %%rdi\n\t"
        "syscall\n\t"
        "ud2"
        :
        : "a"(std::uint64_t{__NR_munmap}), "D"(memory.start),
          "S"(memory.end - memory.start), [exit] "i"(__NR_exit), [status] "r"(status)
        : "rcx", "r11", "memory");
    __builtin_unreachable();
}

/// From here on the thread counts as ended: no signal may run a handler any more, or end it with another status.
void block_all_signals() {
    const std::uint64_t all = ~std::uint64_t{0};
    kernel_call(__NR_rt_sigprocmask, 2, address_of(&all), 0, sizeof all);
}

}  // namespace

long exit(Call& call) {
    block_all_signals();
    update_own_faults(call.thread);
    if (turns::on(call.engine)) turn_calls::release_futexes(call.thread);
    if (has_virtual_clock(call.engine)) end_thread_time(call.thread, false);
    // If all threads end by exit, the process has the status of its first thread. If others outlive it, the record is
    // early, and right once they have ended.
    if (call.thread.page.tid == kernel_call(__NR_getpid))
        close_process_record(call.thread, static_cast<int>((call.argument[0] & 0xff) << 8));
    hooks::at_thread_end(call.thread, false);
    end_exact_thread(call.thread);
    close_thread_page(call.thread);
    if (turns::on(call.engine)) turns::end_thread(call.thread);
    // A vfork's parent frees its child's memory (clone_sharing).
    if (call.thread.owned_by_parent) return kernel_call(__NR_exit, call.argument[0]);
    release_and_exit(call.thread, call.argument[0]);
}

long exit_group(Call& call) {
    block_all_signals();
    save_translations(call.thread);
    update_own_faults(call.thread);
    if (turns::on(call.engine))
        for (Thread* thread = call.engine.threads; thread != nullptr; thread = thread->next_thread)
            turn_calls::release_robust_futexes(*thread);
    if (has_virtual_clock(call.engine)) end_thread_time(call.thread, true);
    close_process_record(call.thread, static_cast<int>((call.argument[0] & 0xff) << 8));
    hooks::at_thread_end(call.thread, true);
    close_thread_page(call.thread);
    if (turns::on(call.engine)) turns::end_process(call.thread);
    return kernel_call(__NR_exit_group, call.argument[0]);
}

}  // namespace anyperf::engine::handlers
