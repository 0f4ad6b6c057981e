// interruptible.cpp: the assembler code that interruptible.h describes, and the signal handler's functions for it.
#include "engine/signals/interruptible.h"

#include <errno.h>

#include "engine/freestanding/kernel.h"

extern "C" {
extern const char engine_syscall_check[] __attribute__((visibility("hidden")));
extern const char engine_syscall_done[] __attribute__((visibility("hidden")));
extern const char engine_syscall_restart[] __attribute__((visibility("hidden")));
}

namespace anyperf::engine {

// There must be one copy only, because the labels are global symbols.
[[gnu::noinline, gnu::noclone]] long interruptible_call(x86_64::Thread& thread, std::uint64_t number,
                                                        const std::uint64_t (&argument)[6]) {
    thread.syscall_restarted = false;
    register std::uint64_t r10 asm("r10") = argument[3];
    register std::uint64_t r8 asm("r8") = argument[4];
    register std::uint64_t r9 asm("r9") = argument[5];
    long result = static_cast<long>(number);
    asm volatile(
        ".globl engine_syscall_check, engine_syscall_done, engine_syscall_restart\n"
        ".hidden engine_syscall_check, engine_syscall_done, engine_syscall_restart\n"
        "xor %%ecx, %%ecx\n"
        "engine_syscall_check:\n\t"
        "cmpl $0, %[pending]\n\t"
        "jne engine_syscall_restart\n\t"
        "syscall\n"
        "engine_syscall_done:\n\t"
        "jmp 1f\n"
        "engine_syscall_restart:\n\t"
        "mov %[again], %%rax\n"
        "1:"
        : "+a"(result)
        : "D"(argument[0]), "S"(argument[1]), "d"(argument[2]), "r"(r10), "r"(r8),
          "r"(r9), [pending] "m"(thread.pending), [again] "i"(kRestartSyscall)
        : "rcx", "r11", "memory");
    return result;
}

// There are three cases:
// - The thread has not executed `syscall`: it does not make the call.
// - The kernel has interrupted the call and has set rip back to `syscall` in order to restart it: the thread does not
//   make the call again.
// - rip is after `syscall`: the kernel has returned a result.
bool interrupt_syscall(x86_64::Thread& thread, x86_64::SignalContext& context) {
    const std::uint64_t check = address_of(engine_syscall_check);
    const std::uint64_t done = address_of(engine_syscall_done);
    if (context.rip < check || context.rip > done) return false;
    if (context.rip == done) return true;  // the kernel's result is kept
    // If rcx has the return address, `syscall` has run and the kernel has set rip back.
    thread.syscall_restarted = context.rcx == done;
    context.rip = address_of(engine_syscall_restart);
    return true;
}

bool is_in_syscall(const x86_64::SignalContext& context) {
    return context.rip >= address_of(engine_syscall_check) && context.rip <= address_of(engine_syscall_restart);
}

void restart_interrupted_syscall(x86_64::Thread& thread, x86_64::SignalContext& context) {
    constexpr auto kInterrupted = static_cast<std::uint64_t>(-EINTR);
    if (context.rip != address_of(engine_syscall_done) || context.rax != kInterrupted) return;
    thread.syscall_restarted = true;
    context.rip = address_of(engine_syscall_restart);
}

}  // namespace anyperf::engine
