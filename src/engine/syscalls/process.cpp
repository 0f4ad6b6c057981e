// process.cpp: calls that end threads and processes.
#include <asm/unistd.h>

#include "engine/attached.h"
#include "engine/freestanding/own_pages.h"
#include "engine/ledger.h"
#include "engine/syscalls/handlers.h"
#include "engine/thread_memory.h"
#include "engine/threads.h"

namespace anyperf::engine::handlers {

namespace {

/// Gives the thread's own memory back and ends it, without a stack in between.
[[noreturn]] void release_and_exit(Thread& thread, std::uint64_t status) {
    remove_thread(thread);
    own_pages.remove(address_of(&thread), address_of(&thread) + thread.block_bytes);
    asm volatile(
        "syscall\n\t"
        "mov %[exit], %%eax\n\t"
        "mov %[status], %%rdi\n\t"
        "syscall\n\t"
        "ud2"
        :
        : "a"(std::uint64_t{__NR_munmap}), "D"(address_of(&thread)),
          "S"(thread.block_bytes), [exit] "i"(__NR_exit), [status] "r"(status)
        : "rcx", "r11", "memory");
    __builtin_unreachable();
}

/// The thread has ended as far as anybody is told: no signal may still end it otherwise, or run a handler.
void block_all_signals() {
    const std::uint64_t all = ~std::uint64_t{0};
    kernel_call(__NR_rt_sigprocmask, 2, address_of(&all), 0, sizeof all);
}

}  // namespace

long exit(Call& call) {
    block_all_signals();
    // The end of a process's only thread is the process's; of others the record is right as soon as the last one ends.
    if (call.thread.page.tid == kernel_call(__NR_getpid))
        end_process(call.thread, static_cast<int>((call.argument[0] & 0xff) << 8));
    attached::end_thread(call.thread, false);
    end_thread(call.thread);
    if (call.thread.owned_by_parent) return kernel_call(__NR_exit, call.argument[0]);
    release_and_exit(call.thread, call.argument[0]);
}

long exit_group(Call& call) {
    block_all_signals();
    end_process(call.thread, static_cast<int>((call.argument[0] & 0xff) << 8));
    attached::end_thread(call.thread, true);
    end_thread(call.thread);
    return kernel_call(__NR_exit_group, call.argument[0]);
}

}  // namespace anyperf::engine::handlers
