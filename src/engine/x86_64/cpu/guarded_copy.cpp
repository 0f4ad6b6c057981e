// guarded_copy.cpp: the routines that may fault, in assembly, because their address ranges and stack must be known. The
// routines from engine_guarded_begin to engine_guarded_end use no stack but their return address, so that one fixup,
// which returns 0, serves them all. They must stay together and in this order in the object file.
#include "engine/x86_64/cpu/guarded_copy.h"

extern "C" {

// rdi: to, rsi: from, rdx: bytes.
[[gnu::naked]] bool engine_guarded_copy(void*, const void*, std::size_t) {
    asm(".globl engine_guarded_begin, engine_guarded_end, engine_guarded_failed\n"
        ".hidden engine_guarded_begin, engine_guarded_end, engine_guarded_failed\n"
        "engine_guarded_begin:\n\t"
        "mov %rdx, %rcx\n\t"
        "rep movsb\n\t"
        "mov $1, %eax\n\t"
        "ret");
}

// rdi: to, rsi: features.
[[gnu::naked]] bool engine_guarded_xsave(void*, std::uint64_t) {
    asm("mov %rsi, %rdx\n\t"
        "mov %esi, %eax\n\t"
        "shr $32, %rdx\n\t"
        "xsave64 (%rdi)\n\t"
        "mov $1, %eax\n\t"
        "ret");
}

// rdi: the area, rsi: features, edx: which.
[[gnu::naked]] bool engine_guarded_state(void*, std::uint64_t, unsigned) {
    asm("mov %edx, %ecx\n\t"
        "mov %rsi, %rdx\n\t"
        "mov %esi, %eax\n\t"
        "shr $32, %rdx\n\t"
        "cmp $1, %ecx\n\t"
        "jb 0f\n\t"
        "je 1f\n\t"
        "cmp $3, %ecx\n\t"
        "jb 2f\n\t"
        "je 3f\n\t"
        "cmp $5, %ecx\n\t"
        "jb 4f\n\t"
        "je 5f\n\t"
        "cmp $6, %ecx\n\t"
        "je 6f\n\t"
        "xsavec64 (%rdi)\n\t"
        "jmp 7f\n"
        "0: xsave (%rdi)\n\t"
        "jmp 7f\n"
        "1: xsave64 (%rdi)\n\t"
        "jmp 7f\n"
        "2: xrstor (%rdi)\n\t"
        "jmp 7f\n"
        "3: xrstor64 (%rdi)\n\t"
        "jmp 7f\n"
        "4: xsaveopt (%rdi)\n\t"
        "jmp 7f\n"
        "5: xsaveopt64 (%rdi)\n\t"
        "jmp 7f\n"
        "6: xsavec (%rdi)\n"
        "7: mov $1, %eax\n\t"
        "ret");
}

// rdi: to.
[[gnu::naked]] bool engine_guarded_fxsave(void*) {
    asm("fxsave64 (%rdi)\n\t"
        "mov $1, %eax\n\t"
        "ret\n"
        "engine_guarded_end:\n"
        "engine_guarded_failed:\n\t"
        "xor %eax, %eax\n\t"
        "ret");
}

// rdi: work, rsi: its context, rdx: GuardedRun::stack, which is 0 again on return. Saves the registers that the ABI
// preserves: after a fault in `work` only the stack has their values. cld, because the ABI requires DF to be clear.
[[gnu::naked]] bool engine_guarded_run(void (*)(void*), void*, std::uint64_t*) {
    asm(".globl engine_guarded_run_failed\n"
        ".hidden engine_guarded_run_failed\n\t"
        "push %rbp\n\t"
        "push %rbx\n\t"
        "push %r12\n\t"
        "push %r13\n\t"
        "push %r14\n\t"
        "push %r15\n\t"
        "push %rdx\n\t"
        "mov %rsp, (%rdx)\n\t"
        "mov %rdi, %rax\n\t"
        "mov %rsi, %rdi\n\t"
        "call *%rax\n\t"
        "mov $1, %eax\n\t"
        "jmp 1f\n"
        "engine_guarded_run_failed:\n\t"
        "cld\n\t"
        "xor %eax, %eax\n"
        "1:\n\t"
        "pop %rdx\n\t"
        "movq $0, (%rdx)\n\t"
        "pop %r15\n\t"
        "pop %r14\n\t"
        "pop %r13\n\t"
        "pop %r12\n\t"
        "pop %rbx\n\t"
        "pop %rbp\n\t"
        "ret");
}

extern const char engine_guarded_run_failed[] __attribute__((visibility("hidden")));
extern const char engine_guarded_begin[] __attribute__((visibility("hidden")));
extern const char engine_guarded_end[] __attribute__((visibility("hidden")));
extern const char engine_guarded_failed[] __attribute__((visibility("hidden")));
}

namespace anyperf::engine::x86_64 {

bool guarded_copy(void* to, const void* from, std::size_t bytes) {
    return engine_guarded_copy(to, from, bytes);
}

bool guarded_xsave(void* to, std::uint64_t features) {
    return engine_guarded_xsave(to, features);
}

bool guarded_fxsave(void* to) {
    return engine_guarded_fxsave(to);
}

bool guarded_state(void* at, std::uint64_t features, StateInstruction which, bool wide) {
    return engine_guarded_state(at, features, 2 * static_cast<unsigned>(which) + (wide ? 1 : 0));
}

bool guarded_run(GuardedRun& guard, void (*work)(void*), void* context) {
    return engine_guarded_run(work, context, &guard.stack);
}

std::uint64_t guarded_run_fixup() {
    return reinterpret_cast<std::uint64_t>(engine_guarded_run_failed);
}

std::uint64_t guarded_fixup(std::uint64_t rip) {
    const bool inside = rip >= reinterpret_cast<std::uint64_t>(engine_guarded_begin) &&
                        rip < reinterpret_cast<std::uint64_t>(engine_guarded_end);
    return inside ? reinterpret_cast<std::uint64_t>(engine_guarded_failed) : 0;
}

std::size_t guarded_prefix(void* to, const void* from, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes && guarded_copy(static_cast<char*>(to) + done, static_cast<const char*>(from) + done, 1))
        ++done;
    return done;
}

}  // namespace anyperf::engine::x86_64
