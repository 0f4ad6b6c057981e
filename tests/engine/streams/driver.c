// driver.c: runs the streams of a blob one after the other and prints the state after each: registers, flags, hashes of
// the vectors, the x87 state, the memory and the faults (a faulting instruction is skipped). A bare program, so that the
// same binary runs natively, by single steps and in the engine.
//   driver FILE [FIRST COUNT] [LENGTH]   LENGTH: number of instructions to run of each stream
#include "../programs/tiny.h"
#include "blob.h"
#include <cpuid.h>

struct state {
    u64 general[16];  // in the order of their encoding; [4] is rsp
    u64 flags;
    unsigned char vectors[16][32];
    unsigned char x87[108];
    uint32_t mxcsr;
};

struct state state __attribute__((aligned(64)));
u64 driver_rsp, code_entry = kCodeAt;
uint32_t wide_vectors;
void enter_stream(void);
void leave_stream(void);

#define ALL_VECTORS(do) do(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) do(14) do(15)
#define LOAD_Y(n) " vmovdqu state+136+32*" #n "(%rip),%ymm" #n "\n"
#define LOAD_X(n) " movdqu state+136+32*" #n "(%rip),%xmm" #n "\n"
#define SAVE_Y(n) " vmovdqu %ymm" #n ",state+136+32*" #n "(%rip)\n"
#define SAVE_X(n) " movdqu %xmm" #n ",state+136+32*" #n "(%rip)\n"
#define ALL_GENERAL(do) do(rax, 0) do(rcx, 1) do(rdx, 2) do(rbx, 3) do(rbp, 5) do(rsi, 6) do(rdi, 7) do(r8, 8) do(r9, 9) do(r10, 10) \
    do(r11, 11) do(r12, 12) do(r13, 13) do(r14, 14) do(r15, 15)
#define LOAD_G(name, n) " mov state+8*" #n "(%rip),%" #name "\n"
#define SAVE_G(name, n) " mov %" #name ",state+8*" #n "(%rip)\n"

__asm__(
    ".text\n"
    "enter_stream:\n push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n mov %rsp,driver_rsp(%rip)\n"
    " cmpl $0,wide_vectors(%rip)\n je 1f\n" ALL_VECTORS(LOAD_Y) " jmp 2f\n"
    "1:\n" ALL_VECTORS(LOAD_X)
    "2: fninit\n pushq state+128(%rip)\n popf\n"
    ALL_GENERAL(LOAD_G)
    " mov state+32(%rip),%rsp\n jmp *code_entry(%rip)\n"
    "leave_stream:\n" ALL_GENERAL(SAVE_G) " mov %rsp,state+32(%rip)\n mov driver_rsp(%rip),%rsp\n pushf\n pop state+128(%rip)\n cld\n"
    " cmpl $0,wide_vectors(%rip)\n je 1f\n" ALL_VECTORS(SAVE_Y) " vzeroupper\n jmp 2f\n"
    "1:\n" ALL_VECTORS(SAVE_X)
    "2: fnsave state+648(%rip)\n stmxcsr state+756(%rip)\n movl $0x1f80,-4(%rsp)\n ldmxcsr -4(%rsp)\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n");
_Static_assert(offsetof(struct state, flags) == 128 && offsetof(struct state, vectors) == 136 && offsetof(struct state, x87) == 648 &&
                   offsetof(struct state, mxcsr) == 756, "the assembly above uses these offsets");

static unsigned char* const code = (unsigned char*)(u64)kCodeAt;
static unsigned char* const data = (unsigned char*)(u64)kDataAt;
static const uint32_t* boundaries;
static uint32_t boundary_count, code_end;
static u64 faults, fault_hash;
static char signal_stack[32768];

enum { kStatusFlags = 0x8d5 };

static uint32_t offset_of(uint32_t instruction) { return boundaries[instruction] & ~kChangesFlags; }

static u64 mix(u64 hash, u64 value) { return (hash ^ value) * 0x9e3779b97f4a7c15 + (hash >> 29); }

static void on_fault(int signal, siginfo_t* info, void* context) {
    greg_t* r = registers_of(context);
    const u64 offset = (u64)r[REG_RIP] - kCodeAt;
    ++faults;
    fault_hash = mix(fault_hash, (u64)signal << 40 | (u64)(unsigned)info->si_code << 20 | offset);
    for (uint32_t i = 0; i < boundary_count; ++i) {
        if (offset_of(i) == offset && boundaries[i] & kChangesFlags) r[REG_EFL] &= ~(greg_t)kStatusFlags;
        if (offset_of(i) > offset) {
            r[REG_RIP] = (greg_t)(kCodeAt + offset_of(i));
            return;
        }
    }
    if (offset < code_end) {
        r[REG_RIP] = kCodeAt + code_end;
        return;
    }
    say("LOST rip", (u64)r[REG_RIP]);
    say("signal", (u64)signal);
    exit_program(3);
}

static u64 next_random(u64* seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/// Typical values: small, small negative, one bit, or any.
static u64 next_value(u64* seed) {
    const u64 any = next_random(seed);
    switch (next_random(seed) % 4) {
        case 0: return any % 64;
        case 1: return -(any % 64);
        case 2: return 1ul << any % 64;
        default: return any;
    }
}

static void prepare(u64 seed) {
    for (int i = 0; i < 16; ++i) state.general[i] = next_value(&seed);
    state.general[4] = kDataAt + kDataRoom / 4 * 3;
    state.general[14] = kDataAt + kDataRoom / 2;
    state.flags = (next_random(&seed) & kStatusFlags) | 0x202;
    for (int i = 0; i < 64; ++i) ((u64*)state.vectors)[i] = next_value(&seed);
    for (int i = 0x7000 / 8; i < 0xd000 / 8; ++i) ((u64*)data)[i] = i % 8 ? (u64)i * 0x0101010101 : next_value(&seed);
    faults = fault_hash = 0;
}

static void show(u64 number) {
    say("stream", number);
    for (int i = 0; i < 16; ++i) say(" r", state.general[i]);
    say(" flags", state.flags & 0xcd5);
    u64 hash = 0;
    for (int i = 0; i < 64; ++i) hash = mix(hash, ((u64*)state.vectors)[i]);
    say(" vectors", hash);
    *(uint32_t*)(state.x87 + 12) = *(uint32_t*)(state.x87 + 16) = *(uint32_t*)(state.x87 + 20) = *(uint32_t*)(state.x87 + 24) = 0;
    hash = 0;
    for (int i = 0; i < 108; ++i) hash = mix(hash, state.x87[i]);
    say(" x87", hash);
    say(" mxcsr", state.mxcsr);
    hash = 0;
    for (int i = 0x7000 / 8; i < 0xd000 / 8; ++i) hash = mix(hash, ((u64*)data)[i]);
    say(" memory", hash);
    say(" faults", faults);
    say(" at", fault_hash);
    flush();
}

static u64 number_of(const char* text) {
    u64 n = 0;
    for (; *text; ++text) n = n * 10 + (u64)(*text - '0');
    return n;
}

/// Copies a stream's code to kCodeAt and appends a jump to leave_stream after it, or after its first `length` instructions.
static void copy_code(const struct StreamHeader* stream, const unsigned char* bytes, u64 length) {
    sys(__NR_mprotect, code, kCodeRoom, PROT_READ | PROT_WRITE);
    memcpy(code, bytes, stream->code_size);
    const uint32_t end = length < stream->boundaries ? offset_of((uint32_t)length) : stream->code_size;
    code_end = end;
    const u64 out = (u64)leave_stream;
    memcpy(code + end, "\xff\x25\0\0\0\0", 6);
    memcpy(code + end + 6, &out, 8);
    sys(__NR_mprotect, code, kCodeRoom, PROT_READ | PROT_EXEC);
}

static int wide(void) {
    unsigned a, b, c, d, low, high;
    __cpuid(1, a, b, c, d);
    if (!(c & bit_OSXSAVE) || !(c & bit_AVX)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6) == 6;
}

int program(int argc, char** argv, char** envp) {
    const long fd = sys(__NR_open, argv[1], O_RDONLY, 0);
    must(fd >= 0, "the blob can be opened");
    const unsigned char* at = (unsigned char*)sys(__NR_mmap, 0, 64 << 20, PROT_READ, MAP_PRIVATE, fd, 0);
    const struct BlobHeader* header = (const struct BlobHeader*)at;
    must(header->magic == kBlobMagic, "the file is a blob");
    const u64 first = argc > 3 ? number_of(argv[2]) : 0, count = argc > 3 ? number_of(argv[3]) : header->streams;
    const u64 length = argc > 4 ? number_of(argv[4]) : ~0ul;
    map(code, kCodeRoom, PROT_READ | PROT_WRITE, MAP_FIXED);
    map(data, kDataRoom, PROT_READ | PROT_WRITE, MAP_FIXED);
    stack_t stack = {signal_stack, 0, sizeof signal_stack};
    sys(__NR_sigaltstack, &stack, 0);
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (int i = 0; i < 4; ++i) on_signal(signals[i], on_fault, SA_ONSTACK | SA_NODEFER, 0);
    sys(__NR_arch_prctl, ARCH_SET_FS, kFsOffset);
    wide_vectors = (uint32_t)wide();
    at += sizeof *header;
    for (u64 i = 0; i < header->streams && i < first + count; ++i) {
        const struct StreamHeader* stream = (const struct StreamHeader*)at;
        boundaries = (const uint32_t*)(stream + 1);
        boundary_count = stream->boundaries;
        const unsigned char* bytes = (const unsigned char*)(boundaries + boundary_count);
        at = bytes + (stream->code_size + 7) / 8 * 8;
        if (i < first) continue;
        copy_code(stream, bytes, length);
        prepare(stream->seed);
        enter_stream();
        show(i);
    }
    return 0;
}
