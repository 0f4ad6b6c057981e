// The state of a program at its start: stack, arguments, auxiliary vector.
#include "tiny.h"
#include <elf.h>

extern char _start_of_image[] __asm__("__ehdr_start");
extern char _start[];

static u64 auxiliary(char** envp, u64 type) {
    while (*envp) ++envp;
    for (Elf64_auxv_t* at = (Elf64_auxv_t*)(envp + 1); at->a_type != AT_NULL; ++at)
        if (at->a_type == type) return at->a_un.a_val;
    return ~0ul;
}

int program(int argc, char** argv, char** envp) {
    say("argc", (u64)argc);
    const char* name = argv[0];
    for (const char* at = argv[0]; *at; ++at)
        if (*at == '/') name = at + 1;
    put(name);
    put("\n");
    say("argv ends", argv[argc] == 0);
    say("argc aligned", ((u64)(argv - 1) & 15) == 0);
    say("page", auxiliary(envp, AT_PAGESZ));
    say("entry", auxiliary(envp, AT_ENTRY) == (u64)_start);
    const Elf64_Ehdr* header = (const Elf64_Ehdr*)_start_of_image;
    say("headers", auxiliary(envp, AT_PHDR) == (u64)_start_of_image + header->e_phoff);
    say("header count", auxiliary(envp, AT_PHNUM) == header->e_phnum);
    say("header size", auxiliary(envp, AT_PHENT));
    say("base", auxiliary(envp, AT_BASE));
    say("secure", auxiliary(envp, AT_SECURE));
    say("ticks", auxiliary(envp, AT_CLKTCK));
    say("execfn is argv[0]", same_text((const char*)auxiliary(envp, AT_EXECFN), argv[0]));
    const u64* random = (const u64*)auxiliary(envp, AT_RANDOM);
    say("random", (random[0] | random[1]) != 0);
    say("uid", auxiliary(envp, AT_UID) == (u64)sys(__NR_getuid));
    say("has vdso", auxiliary(envp, AT_SYSINFO_EHDR) != ~0ul);
    return 0;
}
