// tiny.h: the runtime of the bare test programs: system calls, printing, signals. It uses no libc, so that the same
// instructions run on every machine and a single-stepped run stays short. A program includes it once and defines
// `int program(int argc, char** argv, char** envp)`; its result is the exit status.
#ifndef TINY_H
#define TINY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <asm/prctl.h>
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

typedef unsigned long u64;

static inline long sys6(long n, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "+a"(n) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return n;
}
#define SYS_PICK(_0, _1, _2, _3, _4, _5, _6, name, ...) name
#define sys(...) SYS_PICK(__VA_ARGS__, sys_6, sys_5, sys_4, sys_3, sys_2, sys_1, sys_0)(__VA_ARGS__)
#define sys_0(n) sys6(n, 0, 0, 0, 0, 0, 0)
#define sys_1(n, a) sys6(n, (long)(a), 0, 0, 0, 0, 0)
#define sys_2(n, a, b) sys6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define sys_3(n, a, b, c) sys6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define sys_4(n, a, b, c, d) sys6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define sys_5(n, a, b, c, d, e) sys6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define sys_6(n, a, b, c, d, e, f) sys6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

void* memset(void* to, int value, size_t size) {
    void* at = to;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(value) : "memory");
    return to;
}

void* memcpy(void* to, const void* from, size_t size) {
    void* at = to;
    __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
    return to;
}

static inline size_t length_of(const char* text) {
    size_t n = 0;
    while (text[n]) ++n;
    return n;
}

static inline int same_text(const char* a, const char* b) {
    while (*a && *a == *b) ++a, ++b;
    return *a == *b;
}

/// Output is buffered until flush() or the program's end, so that signals can't split a write.
static char out_text[16384];
static volatile size_t out_size;

static inline void flush(void) {
    sys(__NR_write, 1, out_text, out_size);
    out_size = 0;
}

static inline void put(const char* text) {
    for (; *text; ++text)
        if (out_size < sizeof out_text) out_text[out_size++] = *text;
}

static inline void put_hex(u64 value) {
    char digits[17];
    int at = 16;
    digits[16] = 0;
    do digits[--at] = "0123456789abcdef"[value & 15];
    while (value >>= 4);
    put(digits + at);
}

/// Prints the line "name=value", the value in hexadecimal.
static inline void say(const char* name, u64 value) {
    put(name);
    put("=");
    put_hex(value);
    put("\n");
}

/// Flushes the output and ends the process.
__attribute__((noreturn)) static inline void exit_program(int status) {
    flush();
    for (;;) sys(__NR_exit_group, status);
}

/// Ends the program with status 99 if the condition does not hold.
static inline void must(int holds, const char* what) {
    if (holds) return;
    put("FAILED: ");
    put(what);
    put("\n");
    exit_program(99);
}

/// The kernel's struct sigaction.
struct action {
    void (*handler)(int, siginfo_t*, void*);
    u64 flags;
    void (*restorer)(void);
    u64 mask;
};

#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif
#define MASK_OF(signal) (1ul << ((signal) - 1))

void restore_frame(void);
__asm__(".text\n.type restore_frame,@function\nrestore_frame:\n mov $15,%eax\n syscall\n");

typedef void (*handler_t)(int, siginfo_t*, void*);

static inline long on_signal(int signal, handler_t handler, u64 flags, u64 mask) {
    struct action action = {handler, flags | SA_RESTORER | SA_SIGINFO, restore_frame, mask};
    return sys(__NR_rt_sigaction, signal, &action, 0, 8);
}

static inline void raise_here(int signal) {
    sys(__NR_tgkill, sys(__NR_getpid), sys(__NR_gettid), signal);
}

static inline u64 change_mask(int how, u64 mask) {
    u64 old = 0;
    sys(__NR_rt_sigprocmask, how, &mask, &old, 8);
    return old & ~MASK_OF(SIGTRAP);  // the stepping counter unblocks SIGTRAP
}

static inline greg_t* registers_of(void* context) {
    return ((ucontext_t*)context)->uc_mcontext.gregs;
}

static inline void* map(void* where, size_t size, int protection, int flags) {
    void* at = (void*)sys(__NR_mmap, where, size, protection, flags | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must((long)at > 0 || (long)at < -4095, "mmap");
    return at;
}

static inline void nap_ms(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    sys(__NR_nanosleep, &time, 0);
}

static inline int wait_status(long pid) {
    int status = 0;
    while (sys(__NR_wait4, pid, &status, 0, 0) == -EINTR) {
    }
    return status;
}

int program(int argc, char** argv, char** envp);

__attribute__((used)) static void start_program(long* stack) {
    exit_program(program((int)*stack, (char**)(stack + 1), (char**)(stack + *stack + 2)));
}

#ifdef FIXED_STACK
// A program whose every access has the same address in every run: its stack is in its image, and so is what the kernel
// puts above it: one argument, no environment.
static char fixed_stack[65536] __attribute__((used, aligned(4096)));
static char fixed_name[] = "fixed";
static long fixed_start[8] __attribute__((used)) = {1, (long)fixed_name};
__asm__(
    ".globl _start\n.type _start,@function\n_start:\n xor %ebp,%ebp\n mov $fixed_start,%rdi\n mov "
    "$fixed_stack+65536,%rsp\n call start_program\n hlt\n");
#else
__asm__(
    ".globl _start\n.type _start,@function\n_start:\n xor %ebp,%ebp\n mov %rsp,%rdi\n and $-16,%rsp\n call "
    "start_program\n hlt\n");
#endif

#endif
