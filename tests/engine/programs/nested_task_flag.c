// The NT flag by pushf and popf. It is apart from pushed_flags because some hypervisors clear it in a single step.
#include "tiny.h"

int program(int argc, char** argv, char** envp) {
    u64 flags;
    __asm__ volatile("push $0x4002\n popf\n pushf\n pop %0\n push $2\n popf" : "=r"(flags) : : "cc", "memory");
    say("nt", flags);
    return 0;
}
