// Code in private mappings that were made by a descriptor for reading, of a file that others write: by a descriptor
// that was open before, by one that is opened later, in another process, by truncate(2), and of the running program.
#include "tiny.h"

typedef int function(void);
static char file_name[64] = "/tmp/file_code_others.";

/// Adds the process's id to the name, because the program may run several times at once.
static void choose_name(void) {
    size_t end = length_of(file_name);
    for (u64 id = (u64)sys(__NR_getpid); id != 0; id /= 10) file_name[end++] = (char)('0' + id % 10);
}

/// mov $value,%eax; ret
static void write_code(long fd, unsigned char value, long at) {
    const unsigned char code[] = {0xb8, value, 0, 0, 0, 0xc3};
    must(sys(__NR_pwrite64, fd, code, sizeof code, at) == sizeof code, "pwrite");
}

static long create(void) {
    sys(__NR_unlink, file_name);
    const long fd = sys(__NR_open, file_name, O_RDWR | O_CREAT | O_EXCL, 0700);
    must(fd >= 0, "open");
    write_code(fd, 1, 0);
    write_code(fd, 1, 4096);
    return fd;
}

static function* map_for_reading(void) {
    const long fd = sys(__NR_open, file_name, O_RDONLY);
    const long at = sys(__NR_mmap, 0, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    must(at > 0, "mmap");
    sys(__NR_close, fd);
    return (function*)at;
}

static void written_by_an_older_descriptor(void) {
    const long fd = create();
    function* const call = map_for_reading();
    say("at first", (u64)call());
    write_code(fd, 2, 0);
    say("written by an older descriptor", (u64)call());
    sys(__NR_close, fd);
}

static void written_by_a_later_descriptor(void) {
    sys(__NR_close, create());
    function* const call = map_for_reading();
    say("at first", (u64)call());
    const long fd = sys(__NR_open, file_name, O_WRONLY);
    write_code(fd, 3, 0);
    say("written by a later descriptor", (u64)call());
    const long child = sys(__NR_fork);
    if (child == 0) {
        write_code(fd, 4, 0);
        sys(__NR_exit, 0);
    }
    wait_status(child);
    say("written by a child", (u64)call());
    sys(__NR_close, fd);
}

static void written_by_another_process(void) {
    sys(__NR_close, create());
    function* const call = map_for_reading();
    say("at first", (u64)call());
    const long child = sys(__NR_fork);
    if (child == 0) {
        say("in the child", (u64)call());
        write_code(sys(__NR_creat, file_name, 0700), 5, 0);
        say("in the child, written", (u64)call());
        exit_program(0);
    }
    wait_status(child);
    say("written by another process", (u64)call());
}

static u64 after_fault;

static void skip(int signal, siginfo_t* info, void* context) {
    say("signal", (u64)signal);
    say("code", (u64)info->si_code);
    registers_of(context)[REG_RIP] = (greg_t)after_fault;
    registers_of(context)[REG_RSP] += 8;  // the call has pushed its return address
}

static void call_faulting(function* code) {
    __asm__ volatile("sub $128,%%rsp\n lea 1f(%%rip),%%rax\n mov %%rax,%0\n call *%1\n1: add $128,%%rsp\n"
                     : "=m"(after_fault)
                     : "r"(code)
                     : "rax", "rcx", "rdx", "memory");
}

static void truncated(void) {
    sys(__NR_close, create());
    function* const next = (function*)((char*)map_for_reading() + 4096);
    say("at first", (u64)next());
    on_signal(SIGBUS, skip, 0, 0);
    say("truncate", (u64)sys(__NR_truncate, file_name, 4096));
    call_faulting(next);
}

static void of_the_program(const char* program) {
    say("open the program", (u64)-sys(__NR_open, program, O_WRONLY));
    say("truncate the program", (u64)-sys(__NR_truncate, program, 0));
    say("create the program", (u64)-sys(__NR_creat, program, 0700));
    say("exclusively", (u64)-sys(__NR_open, program, O_RDWR | O_CREAT | O_EXCL, 0700));
    const long reading = sys(__NR_open, program, O_RDONLY);
    say("open it for reading", reading >= 0);
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)envp;
    choose_name();
    written_by_an_older_descriptor();
    written_by_a_later_descriptor();
    flush();
    written_by_another_process();
    truncated();
    of_the_program(argv[0]);
    sys(__NR_unlink, file_name);
    return 0;
}
