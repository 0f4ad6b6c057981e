// Self-modifying code of every kind: on its own page, the next instruction, inside a loop, across a page end, after
// mprotect, through a second mapping, by a system call, after being mapped over, unmapped, moved or discarded, on the
// stack.
#include "written_code.h"

typedef u64 (*function)(void);

static u64 call(volatile void* at) {
    __asm__ volatile("" : "+r"(at) : : "memory");
    return ((function)(u64)at)();
}

#define RWX (PROT_READ | PROT_WRITE | PROT_EXEC)

static void same_page(void) {
    unsigned char* page = map(0, 8192, RWX, 0);
    u64 sum = 0;
    for (unsigned i = 0; i < 200; ++i) {
        write_code(page + 64 * (i % 3), i);
        sum = sum * 7 + call(page + 64 * (i % 3)) + call(page);
    }
    say("same page", sum);
    for (unsigned i = 0; i < 50; ++i) {  // across a page end
        write_code(page + 4094, i * 3);
        sum = sum * 7 + call(page + 4094);
    }
    say("page end", sum);
    unsigned char* data = page + 512;  // data and code on one page
    write_code(page, 5);
    for (unsigned i = 0; i < 300; ++i) {
        data[i % 64] = (unsigned char)i;
        sum += call(page) * data[(i * 5) % 64];
    }
    say("data beside", sum);
}

__asm__(
    ".text\n"
    "code_template:\n"  // changes the immediate of the next instruction, in a loop
    " mov $20,%ecx\n xor %eax,%eax\n"
    "1: mov %cl,2f+1(%rip)\n"
    "2: mov $0x11,%edx\n add %edx,%eax\n dec %ecx\n jnz 1b\n"
    " movb $0x90,3f(%rip)\n movb $0x90,3f+1(%rip)\n"  // replaces the ud2 right before it would run
    "3: ud2\n"
    " movl $0xc3c3c3c3,4f(%rip)\n"
    "4: ud2\n ud2\n"
    "code_template_end:\n");
extern unsigned char code_template[], code_template_end[];

static void next_instruction(void) {
    unsigned char* page = map(0, 4096, RWX, 0);
    for (int times = 0; times < 3; ++times) {
        memcpy(page + 100, code_template, (size_t)(code_template_end - code_template));
        say("own", call(page + 100));
    }
}

static void write_then_execute(void) {
    unsigned char* page = map(0, 4096, PROT_READ | PROT_WRITE, 0);
    u64 sum = 0;
    for (unsigned i = 0; i < 40; ++i) {
        sys(__NR_mprotect, page, 4096, PROT_READ | PROT_WRITE);
        write_code(page, i + 1000);
        sys(__NR_mprotect, page, 4096, PROT_READ | PROT_EXEC);
        sum = sum * 5 + call(page);
    }
    say("toggled", sum);
}

static void two_mappings(void) {
    const long fd = sys(__NR_memfd_create, "code", 0);
    sys(__NR_ftruncate, fd, 4096);
    unsigned char* writable = (unsigned char*)sys(__NR_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    unsigned char* executable = (unsigned char*)sys(__NR_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    u64 sum = 0;
    for (unsigned i = 0; i < 100; ++i) {
        write_code(writable, i);
        sum = sum * 3 + call(executable);
    }
    say("two mappings", sum);
    unsigned char bytes[6];
    for (unsigned i = 0; i < 10; ++i) {  // by a system call on the file
        write_code(bytes, i + 77);
        sys(__NR_pwrite64, fd, bytes, 6, 0);
        sum = sum * 3 + call(executable);
    }
    say("by pwrite", sum);
}

static void by_the_kernel(void) {
    unsigned char* page = map(0, 4096, RWX, 0);
    int ends[2];
    sys(__NR_pipe2, ends, 0);
    u64 sum = 0;
    for (unsigned i = 0; i < 20; ++i) {
        unsigned char bytes[6];
        write_code(bytes, i * 11);
        sys(__NR_write, ends[1], bytes, 6);
        say("read", (u64)sys(__NR_read, ends[0], page, 6));
        sum = sum * 3 + call(page);
    }
    say("by read", sum);
}

static void mapped_over(void) {
    unsigned char* page = map(0, 8192, RWX, 0);
    u64 sum = 0;
    for (unsigned i = 0; i < 20; ++i) {
        write_code(page, i + 3);
        sum = sum * 3 + call(page);
        map(page, 4096, RWX, MAP_FIXED);
        must(page[0] == 0, "a new mapping is empty");
        write_code(page, i + 4);
        sum = sum * 3 + call(page);
        sys(__NR_munmap, page, 4096);
        map(page, 4096, RWX, MAP_FIXED);
        write_code(page, i + 5);
        sum = sum * 3 + call(page);
        unsigned char* other =
            (unsigned char*)sys(__NR_mremap, page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, page + 4096);
        sum = sum * 3 + call(other);
        map(page, 4096, RWX, MAP_FIXED);
        write_code(page, i + 6);
        sum = sum * 3 + call(page);
        sys(__NR_madvise, page, 4096, MADV_DONTNEED);
        write_code(page, i + 7);
        sum = sum * 3 + call(page);
    }
    say("mapped over", sum);
}

/// Each advice discards the written code of a private mapping. Then the code of its file is there again.
static void discarded(void) {
    const int advices[] = {MADV_DONTNEED, 24};  // MADV_DONTNEED_LOCKED
    for (unsigned i = 0; i < 2; ++i) {
        unsigned char code[6];
        write_code(code, 1000 + i);
        const long fd = sys(__NR_memfd_create, "code", 0);
        sys(__NR_write, fd, code, sizeof code);
        char path[] = "/proc/self/fd/0";
        path[sizeof path - 2] += (char)fd;
        const long read_only = sys(__NR_open, path, O_RDONLY);
        must(fd < 10 && read_only >= 0, "open");
        unsigned char* page = (unsigned char*)sys(__NR_mmap, 0, 4096, RWX, MAP_PRIVATE, read_only, 0);
        u64 sum = call(page);
        write_code(page, 2000 + i);
        sum = sum * 10000 + call(page);
        sys(__NR_madvise, page, 4096, advices[i]);
        say("discarded", sum * 10000 + call(page));
    }
}

static void on_the_stack(void) {
    unsigned char code[64];
    unsigned char* page = (unsigned char*)((u64)code & ~4095ul);
    sys(__NR_mprotect, page, 8192, RWX);
    u64 sum = 0;
    for (unsigned i = 0; i < 50; ++i) {
        write_code(code, i);
        sum = sum * 3 + call(code);
    }
    say("stack", sum);
}

int program(int argc, char** argv, char** envp) {
    same_page();
    next_instruction();
    write_then_execute();
    two_mappings();
    by_the_kernel();
    mapped_over();
    discarded();
    on_the_stack();
    return 0;
}
