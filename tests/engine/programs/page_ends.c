// Code across pages and up to the end of the last mapped one: the fault comes when control reaches the unmapped bytes,
// with their address.
#include "tiny.h"

static char* pages;
static u64 resume_at;

static void handler(int signal, siginfo_t* info, void* context) {
    greg_t* r = registers_of(context);
    say("signal", (u64)signal);
    say(" code", (u64)(unsigned)info->si_code);
    say(" address", (u64)info->si_addr - (u64)pages);
    say(" rip", (u64)r[REG_RIP] - (u64)pages);
    say(" rax", (u64)r[REG_RAX]);
    r[REG_RIP] = (greg_t)resume_at;
}

static void enter(u64 at) {
    __asm__ volatile("lea 1f(%%rip),%%rdx\n mov %%rdx,%0\n mov $5,%%eax\n jmp *%1\n1:" : "=m"(resume_at) : "r"(at) : "rax", "rdx", "memory", "cc");
}

int program(int argc, char** argv, char** envp) {
    on_signal(SIGSEGV, handler, 0, 0);
    on_signal(SIGILL, handler, 0, 0);
    pages = map(0, 5 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC, 0);
    sys(__NR_munmap, pages + 8192, 4096);
    const unsigned char add3[] = {0x83, 0xc0, 3};  // add $3,%eax
    // complete instructions up to the end of the mapping
    memset(pages, 0x90, 8192);
    memcpy(pages + 8192 - 3, add3, 3);
    enter((u64)pages + 8100);
    // an instruction that the end of the mapping cuts
    memset(pages, 0x90, 8192);
    memcpy(pages + 8192 - 2, add3, 2);
    enter((u64)pages + 8100);
    // an instruction cut after its prefixes; an invalid one right before the end
    memset(pages, 0x90, 8192);
    pages[8190] = (char)0x66;
    pages[8191] = 0x66;
    enter((u64)pages + 8100);
    memset(pages, 0x90, 8192);
    pages[8190] = 0x06;
    enter((u64)pages + 8100);
    // an instruction across two mapped pages, then a return
    memset(pages, 0x90, 8192);
    const unsigned char across[] = {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 0xc3};
    for (int cut = 0; cut < 11; ++cut) {
        memcpy(pages + 4096 - cut, across, 11);
        say("across", ((u64(*)(void))(u64)(pages + 4000))());
        memset(pages + 4080, 0x90, 40);
    }
    // the second page loses PROT_EXEC, and gets it back
    memcpy(pages + 4096 - 5, across, 11);
    sys(__NR_mprotect, pages + 4096, 4096, PROT_READ | PROT_WRITE);
    enter((u64)pages + 4000);
    sys(__NR_mprotect, pages + 4096, 4096, PROT_READ | PROT_EXEC);
    say("again", ((u64(*)(void))(u64)(pages + 4000))());
    // branches at the end of a page: a taken branch must not fault on the next page
    pages[12288 + 4094] = (char)0xeb;
    pages[12288 + 4095] = (char)(-20);
    pages[12288 + 4076] = (char)0xc3;
    ((void (*)(void))(u64)(pages + 12288 + 4094))();
    pages[16384 + 4090] = (char)0x31;  // xor %ecx,%ecx; jz -24; (end)
    pages[16384 + 4091] = (char)0xc9;
    pages[16384 + 4092] = (char)0x90;
    pages[16384 + 4093] = (char)0x90;
    pages[16384 + 4094] = (char)0x74;
    pages[16384 + 4095] = (char)(-24);
    pages[16384 + 4072] = (char)0xc3;
    ((void (*)(void))(u64)(pages + 16384 + 4090))();
    put("done\n");
    return 0;
}
