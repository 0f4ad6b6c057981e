// called_code.h: calls of code that may fault. The program handles SIGSEGV and the like by on_fault().
#pragma once
#include "written_code.h"

extern char after_fault[];
static volatile int faults;

static void on_fault(int signal, siginfo_t* info, void* context) {
    (void)info;
    faults += signal;
    registers_of(context)[REG_RIP] = (greg_t)after_fault;
}

/// Calls the code. If it faults, the result is the signal's number plus 0xf000: a page of zeros stores to address 0.
static u64 call(volatile void* at) {
    u64 value = 0;
    faults = 0;
    __asm__ volatile(
        "mov %%rsp, %%rbx\n sub $128, %%rsp\n call *%2\n"
        ".globl after_fault\nafter_fault:\n mov %%rbx, %%rsp\n"
        : "+a"(value)
        : "m"(faults), "r"(at)  // rbx is where rsp was: the call may fault
        : "rbx", "rcx", "rdx", "memory", "cc");
    return faults != 0 ? 0xf000u + (unsigned)faults : value;
}
