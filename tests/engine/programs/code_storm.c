// Threads call code that another thread continually unmaps, maps, protects and writes: each call returns what some
// version of the code returns, or faults at the code's address.
#include "tiny_thread.h"

enum { kRunners = 3, kSlots = 6, kRounds = 600, kPage = 4096 };

static unsigned char* slots;
static volatile int done;
static volatile int exited[kRunners];
static volatile u64 called[kRunners];
static u64 faulted;
static char stacks[kRunners][32768] __attribute__((aligned(16)));

/// Makes a call that faults at its target return 0.
static void on_fault(int number, siginfo_t* info, void* context) {
    greg_t* r = registers_of(context);
    const u64 at = (u64)r[REG_RIP];
    must(at >= (u64)slots && at < (u64)slots + kSlots * kPage, "faults are in the changing code only");
    __atomic_add_fetch(&faulted, 1, __ATOMIC_RELAXED);
    r[REG_RIP] = *(greg_t*)r[REG_RSP];
    r[REG_RSP] += 8;
    r[REG_RAX] = 0;
}

static u64 call(const void* code) {
    u64 result = 0;
    __asm__ volatile("sub $128,%%rsp\n call *%1\n add $128,%%rsp" : "+a"(result) : "r"(code) : "rcx", "rdx", "memory");
    return result;
}

static int runner(void* number) {
    const u64 self = (u64)number;
    for (u64 i = self; !done; ++i) {
        const u64 slot = i % kSlots;
        const u64 got = call(slots + slot * kPage);
        must(got == 0 || got >> 8 == slot + 1, "the result is one of this slot");
        ++called[self];
    }
    return 0;
}

/// Writes `mov $value, %eax; ret`, the first byte last: until then the call faults.
static void write_code(unsigned char* page, unsigned value) {
    page[5] = 0xc3;
    page[2] = (unsigned char)(value >> 8);
    __atomic_store_n(page, 0xb8, __ATOMIC_SEQ_CST);
}

static void change(u64 slot, unsigned round) {
    unsigned char* const page = slots + slot * kPage;
    const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    const int fixed = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    switch (round % 5) {
        case 0: sys(__NR_munmap, page, kPage); break;
        case 1: break;
        case 2: sys(__NR_mprotect, page, kPage, PROT_READ | PROT_EXEC); return;
        case 3: sys(__NR_mprotect, page, kPage, PROT_NONE); return;
        case 4: sys(__NR_madvise, page, kPage, MADV_DONTNEED); break;
    }
    must(sys(__NR_mmap, page, kPage, all, fixed, -1, 0) == (long)page, "mmap");
    write_code(page, (unsigned)(slot + 1) << 8);
}

int program(int argc, char** argv, char** envp) {
    on_signal(SIGSEGV, on_fault, SA_NODEFER, 0);
    slots = map(0, kSlots * kPage, PROT_READ | PROT_WRITE | PROT_EXEC, 0);
    for (u64 i = 0; i < kSlots; ++i) write_code(slots + i * kPage, (unsigned)(i + 1) << 8);
    for (long i = 0; i < kRunners; ++i) {
        exited[i] = 1;
        start_thread(kThreadFlags | CLONE_CHILD_CLEARTID, runner, (void*)i, stacks[i] + sizeof stacks[i], &exited[i],
                     0);
    }
    for (unsigned round = 0; round < kRounds; ++round) {
        change(round * 7 % kSlots, round);
        if (round % 50 == 0) nap_ms(1);
    }
    // On a busy machine no runner may have run so far: the changes go on until one has.
    for (unsigned round = 0; called[0] + called[1] + called[2] == 0; ++round) {
        change(round % kSlots, 0);
        nap_ms(1);
    }
    done = 1;
    for (int i = 0; i < kRunners; ++i) wait_cleared(&exited[i]);
    say("done", 1);
    return 0;
}
