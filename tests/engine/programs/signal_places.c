// The registers that a signal shows at each instruction of calls and returns. Run by itself it sends no signal. A
// tracer (signal_places_test.cpp) runs it with the number of rounds as its argument, writes a byte to it, and sends
// SIGUSR1 at one place in each round; the program then prints for each instruction what its handler saw there. The
// handler has no branches that depend on the place, so each signal costs the same number of instructions.
#include "tiny.h"

enum { kPlaces = 256, kSteps = 16, kSlots = kPlaces * kSteps, kShown = 18 };

static char stack[65536] __attribute__((aligned(4096), used));
static char handler_stack[65536] __attribute__((aligned(16)));
static u64 seen_or[kSlots + 1][kShown], seen_and[kSlots + 1][kShown], seen[kSlots + 1];

extern const char sequence[], sequence_end[];
u64 run_sequence(void);
__asm__(
    ".text\n"
    "run_sequence:\n"
    " push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n mov %rsp,saved_stack(%rip)\n"
    " lea stack+32768(%rip),%rsp\n"
    " mov $1,%eax\n mov $2,%ecx\n mov $3,%edx\n mov $4,%ebx\n mov $5,%ebp\n mov $6,%esi\n mov $7,%edi\n mov $8,%r8d\n"
    " mov $9,%r9d\n mov $10,%r10d\n mov $11,%r11d\n lea leaf(%rip),%r12\n mov $13,%r13d\n xor %r14d,%r14d\n mov "
    "$15,%r15d\n"
    "sequence:\n"
    " stc\n call leaf\n lea 1(%r14),%r14\n call *%r12\n lea 1(%r14),%r14\n call *leaf_pointer(%rip)\n lea "
    "2(%rcx),%rcx\n"
    " lea 1(%r14),%r14\n call nested\n lea 1(%r14),%r14\n"
    " call elsewhere\n ud2\n"
    "returned_elsewhere:\n lea after_push(%rip),%rdx\n push %rdx\n ret\n ud2\n"
    "after_push:\n call leaf\n adc $0,%rbx\n stc\n jmp out\n"
    "leaf:\n lea 1(%rbx),%rbx\n ret\n"
    "nested:\n lea 1(%r11),%r11\n call leaf\n lea 1(%r14),%r14\n call *%r12\n lea 1(%r10),%r10\n ret\n"
    "elsewhere:\n lea returned_elsewhere(%rip),%rdi\n mov %rdi,(%rsp)\n ret\n"
    "out:\n nop\n"
    "sequence_end:\n"
    " lea (%rax,%rbx),%rax\n mov saved_stack(%rip),%rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop "
    "%rbx\n"
    " ret\n"
    ".data\n.balign 8\nleaf_pointer: .quad leaf\nsaved_stack: .quad 0\n.text\n");

/// Several calls execute the same instruction. r14 has the number of the call.
static u64 place_of(u64 rip, u64 step) {
    const u64 place = (rip - (u64)sequence) * kSteps + step % kSteps;
    return place < kSlots ? place : kSlots;  // a conditional move
}

static void note(int signal, siginfo_t* info, void* context) {
    const greg_t* const registers = registers_of(context);
    const u64 place = place_of((u64)registers[REG_RIP], (u64)registers[REG_R14]);
    ++seen[place];
    for (int i = 0; i < kShown; ++i) {
        u64 value = (u64)registers[i];  // REG_R8 is 0, REG_RIP 16, REG_EFL 17
        if (i == REG_EFL) value &= 1;   // the carry; the other status flags are dead
        seen_or[place][i] |= value;
        seen_and[place][i] &= value;
    }
}

static void print(void) {
    for (u64 place = 0; place < kSlots; ++place) {
        if (!seen[place] || place / kSteps >= (u64)(sequence_end - sequence)) continue;
        put("+");
        put_hex(place);
        for (int i = 0; i < kShown; ++i) {
            must(seen_or[place][i] == seen_and[place][i], "the same registers each time");
            put(" ");
            put_hex(seen_or[place][i]);
        }
        put("\n");
        if (out_size > sizeof out_text / 2) flush();
    }
}

/// Prints the process's number. It has as many digits in every run, since each digit costs instructions, and the test
/// compares the counts of several runs.
static void print_pid(void) {
    const u64 pid = (u64)sys(__NR_getpid);
    put("pid=");
    for (int shift = 28; shift >= 0; shift -= 4) put_hex(pid >> shift & 15);
    put("\n");
}

static u64 number(const char* text) {
    u64 value = 0;
    for (; *text; ++text) value = value * 10 + (u64)(*text - '0');
    return value;
}

int program(int argc, char** argv, char** envp) {
    const stack_t alternate = {handler_stack, 0, sizeof handler_stack};
    sys(__NR_sigaltstack, &alternate, 0);
    on_signal(SIGUSR1, note, SA_ONSTACK, 0);
    memset(seen_and, 0xff, sizeof seen_and);
    u64 sum = 0;
    sum += run_sequence();
    if (argc > 1) {
        print_pid();
        flush();
        char go = 0;
        while (sys(__NR_read, 0, &go, 1) == -EINTR) {
        }
        for (u64 round = number(argv[1]); round > 0; --round) {
            sys(__NR_getppid);
            sum += run_sequence();
        }
    }
    print();
    say("sum", sum & 0xff);
    return 0;
}
