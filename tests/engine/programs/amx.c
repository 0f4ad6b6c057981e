// AMX: the state of tiles over system calls and other exits of translated code, signal handlers, fork, threads and
// execve; the permission that arch_prctl(2) gives for them.
#include <cpuid.h>

#include "tiny_thread.h"

enum {
    kGetPermission = 0x1022,      // ARCH_GET_XCOMP_PERM
    kRequestPermission = 0x1023,  // ARCH_REQ_XCOMP_PERM
    kTileData = 18,               // component of XSAVE
    kTileBytes = 1024,
    kFpuMagicBytes = 464,  // where the kernel's struct _fpx_sw_bytes begins in the frame's state (sigcontext(7))
};

struct tile_config {
    unsigned char palette, start_row, reserved[14];
    unsigned short row_bytes[16];
    unsigned char rows[16];
} __attribute__((aligned(64)));

static unsigned char first[kTileBytes] __attribute__((aligned(64)));
static unsigned char second[kTileBytes] __attribute__((aligned(64)));
static unsigned char result[kTileBytes] __attribute__((aligned(64)));
static char stack[65536] __attribute__((aligned(16)));
static volatile int alive = 1;

static int has_tiles(void) {
    unsigned a, b, c, d, low, high;
    if (__get_cpuid_max(0, 0) < 0x1d) return 0;
    __cpuid(1, a, b, c, d);
    if (!(c & bit_OSXSAVE)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low >> 17 & 3) != 3) return 0;
    __cpuid_count(7, 0, a, b, c, d);
    return d >> 24 & 1;
}

static void configure(void) {
    struct tile_config config;
    memset(&config, 0, sizeof config);
    config.palette = 1;
    for (int i = 0; i < 8; ++i) config.row_bytes[i] = 64, config.rows[i] = 16;
    __asm__ volatile("ldtilecfg %0" : : "m"(config));
}

static void load(const unsigned char* from) {
    __asm__ volatile("tileloadd (%0,%1,1),%%tmm3" : : "r"(from), "r"(64ul) : "memory");
}

static u64 stored(void) {
    u64 sum = 0;
    __asm__ volatile("tilestored %%tmm3,(%0,%1,1)" : : "r"(result), "r"(64ul) : "memory");
    for (int i = 0; i < kTileBytes; ++i) sum = sum * 31 + result[i];
    return sum;
}

/// Whether the thread's tiles are configured: the palette, which is 0 at first.
static u64 palette(void) {
    struct tile_config config;
    __asm__ volatile("sttilecfg %0" : "=m"(config));
    return config.palette;
}

static void on_user(int signal, siginfo_t* info, void* context) {
    const char* const state = (const char*)((ucontext_t*)context)->uc_mcontext.fpregs;
    const unsigned* const bytes = (const unsigned*)(state + kFpuMagicBytes);
    (void)signal, (void)info;
    say("palette in the handler", palette());
    say("features of the frame", *(const u64*)(state + 512) >> 17 & 3);
    say("tiles are in the frame", bytes[1] > 8192);  // extended_size
    configure();
    load(second);
    say("tiles of the handler", stored());
}

static int in_a_thread(void* argument) {
    (void)argument;
    u64 permission = 0;
    sys(__NR_arch_prctl, kGetPermission, &permission);
    say("permission of a thread", permission >> kTileData & 1);
    say("its palette", palette());
    configure();
    load(second);
    for (int i = 0; i < 50; ++i) sys(__NR_sched_yield);
    say("its tiles", stored());
    return 0;
}

/// Calls through a pointer that changes, and system calls: exits of translated code of several kinds.
static void leave_often(void) {
    static long (*const calls[])(long, long, long, long, long, long, long) = {sys6, sys6};
    for (int i = 0; i < 200; ++i) calls[i & 1](i & 2 ? __NR_getppid : __NR_sched_yield, 0, 0, 0, 0, 0, 0);
    unsigned a, b, c, d;
    __cpuid(0, a, b, c, d);
}

int program(int argc, char** argv, char** envp) {
    u64 permission = 0;
    if (!has_tiles()) {
        put("missing: AMX, in CPUID and XCR0\n");
        return 0;
    }
    sys(__NR_arch_prctl, kGetPermission, &permission);
    say(argc > 1 ? "permission after execve" : "permission at first", permission >> kTileData & 1);
    if (argc > 1) return 0;
    say("request", (u64)sys(__NR_arch_prctl, kRequestPermission, kTileData));
    sys(__NR_arch_prctl, kGetPermission, &permission);
    say("permission", permission >> kTileData & 1);
    for (int i = 0; i < kTileBytes; ++i) first[i] = (unsigned char)(i * 7 + 1), second[i] = (unsigned char)(i * 3);
    say("palette at first", palette());
    configure();
    load(first);
    say("tiles", stored());
    leave_often();
    say("after exits", stored());
    on_signal(SIGUSR1, on_user, 0, 0);
    raise_here(SIGUSR1);
    say("after a handler", stored());
    flush();
    const long child = sys(__NR_fork);
    if (child == 0) {
        say("of a child", stored());
        raise_here(SIGUSR1);
        say("of a child after a handler", stored());
        exit_program(0);
    }
    say("child's status", (u64)wait_status(child));
    say("after a fork", stored());
    start_thread(kThreadFlags | CLONE_CHILD_CLEARTID, in_a_thread, 0, stack + sizeof stack, &alive, 0);
    wait_cleared(&alive);
    say("after a thread", stored());
    __asm__ volatile("tilerelease");
    say("palette after tilerelease", palette());
    raise_here(SIGUSR1);
    say("palette after a handler", palette());
    flush();
    char* const words[] = {argv[0], (char*)"again", 0};
    sys(__NR_execve, argv[0], words, envp);
    return 1;
}
