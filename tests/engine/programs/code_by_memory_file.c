// Code that the program writes by /proc/self/mem, which writes whatever the protection is, and by process_vm_writev(2).
#include "tiny.h"

#include <sys/uio.h>

typedef u64 (*function)(void);

/// mov $value,%eax; ret
static unsigned char* code_of(unsigned char value) {
    static unsigned char code[6];
    const unsigned char bytes[6] = {0xb8, value, 0, 0, 0, 0xc3};
    memcpy(code, bytes, sizeof code);
    return code;
}

static u64 call(volatile void* at) {
    __asm__ volatile("" : "+r"(at) : : "memory");
    return ((function)(u64)at)();
}

static void written(const char* file, int protection) {
    const long fd = sys(__NR_open, file, O_RDWR);
    must(fd >= 0, "open");
    unsigned char* page = map(0, 4096, PROT_READ | PROT_WRITE, 0);
    memcpy(page, code_of(1), 6);
    sys(__NR_mprotect, page, 4096, protection);
    say(file, call(page));
    say("pwrite64", (u64)sys(__NR_pwrite64, fd, code_of(2), 6, page));
    say(" code", call(page));
    sys(__NR_lseek, fd, page, 0);
    say("write", (u64)sys(__NR_write, fd, code_of(3), 6));
    say(" code", call(page));
    const struct iovec parts[2] = {{code_of(4), 2}, {code_of(4) + 2, 4}};
    say("pwritev", (u64)sys(__NR_pwritev, fd, parts, 2, page, 0));
    say(" code", call(page));
    sys(__NR_lseek, fd, page, 0);
    code_of(5);
    say("writev", (u64)sys(__NR_writev, fd, parts, 2));
    say(" code", call(page));
    sys(__NR_lseek, fd, page, 0);
    code_of(6);
    say("pwritev2", (u64)sys(__NR_pwritev2, fd, parts, 2, -1, -1, 0));
    say(" code", call(page));
    const struct iovec from = {code_of(7), 6}, to = {page, 6};
    const long got = sys(__NR_process_vm_writev, sys(__NR_getpid), &from, 1, &to, 1, 0);
    say("process_vm_writev", (u64)got);
    say(" code", call(page));
    sys(__NR_close, fd);
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    written("/proc/self/mem", PROT_READ | PROT_EXEC);
    written("/proc/thread-self/mem", PROT_READ | PROT_WRITE | PROT_EXEC);
    return 0;
}
