// Invalid instruction bytes after a valid instruction: the signal, si_code and address must be those of the CPU.
#include "tiny.h"

static const struct {
    unsigned char size;
    unsigned char bytes[17];
} kBytes[] = {
    {1, {0x06}},                                // push es, not in 64-bit mode
    {1, {0xd6}},                                // salc
    {1, {0x27}},                                // daa
    {2, {0x0f, 0xff}},                          // ud0
    {3, {0x0f, 0xb9, 0xc0}},                    // ud1
    {2, {0x0f, 0x0b}},                          // ud2
    {2, {0x0f, 0x04}},                          // no such opcode
    {2, {0x0f, 0x36}},                          // no such opcode
    {3, {0x0f, 0x38, 0x3f}},                    // needs a prefix
    {4, {0x0f, 0x3a, 0xff, 0xff}},              // no such opcode
    {3, {0xf0, 0x01, 0xc0}},                    // lock with a register
    {2, {0xf0, 0x90}},                          // lock nop
    {2, {0xfe, 0xd0}},                          // group 4, row 2
    {2, {0xff, 0xf8}},                          // group 5, row 7
    {2, {0xc6, 0xc8}},                          // group 11, row 1
    {2, {0x8f, 0xc8}},                          // group 1A, row 1
    {5, {0xc5, 0xf8, 0x04, 0xc0, 0x00}},        // no such VEX opcode
    {5, {0xc4, 0xe0, 0x78, 0x10, 0xc0}},        // VEX map 0
    {5, {0x66, 0xc5, 0xf8, 0x10, 0xc0}},        // 66 before VEX
    {6, {0x62, 0x08, 0x7c, 0x48, 0x10, 0xc0}},  // EVEX map 0
    {3, {0xea, 0x00, 0x00}},                    // far jump, not in 64-bit mode
    {2, {0xcd, 0x07}},                          // int 7
    {1, {0xf4}},                                // hlt
    {16, {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90}},  // too long
};

static unsigned char* page;
static volatile u64 count;

static void on_fault(int number, siginfo_t* info, void* context) {
    greg_t* r = registers_of(context);
    say("signal", number);
    say("  code", info->si_code);
    say("  address", (u64)info->si_addr - ((u64)info->si_addr >= (u64)page ? (u64)page : 0));
    say("  rip", (u64)r[REG_RIP] - (u64)page);
    say("  rax", r[REG_RAX]);
    ++count;
    r[REG_RIP] = *(greg_t*)r[REG_RSP];
    r[REG_RSP] += 8;
}

int program(int argc, char** argv, char** envp) {
    for (int signal = 1; signal < 32; ++signal)
        if (signal == SIGILL || signal == SIGSEGV || signal == SIGBUS || signal == SIGTRAP)
            on_signal(signal, on_fault, SA_NODEFER, 0);
    page = map(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, 0);
    for (unsigned i = 0; i < sizeof kBytes / sizeof *kBytes; ++i) {
        const u64 before = count;
        page[0] = 0xb8, page[1] = (unsigned char)i, page[2] = page[3] = page[4] = 0;  // mov $i, %eax
        for (unsigned j = 0; j < 17; ++j) page[5 + j] = j < kBytes[i].size ? kBytes[i].bytes[j] : 0xc3;
        __asm__ volatile("sub $128,%%rsp\n call *%0\n add $128,%%rsp" : : "r"(page) : "rax", "rcx", "rdx", "memory");
        say("case", i);
        say("  faults", count - before);
    }
    flush();
    return 0;
}
