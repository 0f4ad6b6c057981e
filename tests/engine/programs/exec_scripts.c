// The first line of scripts, which is parsed in the engine: blanks, arguments, the end of the file, the 256 bytes that
// the kernel reads. And set-user-id: Linux ignores it on scripts, and under no_new_privs on programs, too.
#include "tiny.h"

enum { kBuffer = 256, kOtherUser = 65534 };

static char** environment;
static const char* own;
static char text[1024];
static size_t size;

static void begin(const char* start) {
    size = 0;
    while (*start) text[size++] = *start++;
}

static void add(const char* more) {
    while (*more) text[size++] = *more++;
}

static void fill_to(size_t end, char c) {
    while (size < end) text[size++] = c;
}

/// A read-only descriptor of a file with these bytes: it may be executed.
static int file_with(const char* bytes, size_t count, int mode) {
    const int out = (int)sys(__NR_memfd_create, "file", 0);
    sys(__NR_write, out, bytes, count);
    sys(__NR_fchmod, out, mode);
    char path[] = "/proc/self/fd/0";
    path[14] = (char)('0' + out);
    const int in = (int)sys(__NR_open, path, O_RDONLY);
    sys(__NR_close, out);
    return in;
}

/// Executes the file in a child that prints its arguments. Says the child's status, or 0x6400 - errno.
static void try_exec(const char* what, int fd, int (*prepare)(void)) {
    char* words[] = {"child", "given", 0};
    put(what);
    put(": ");
    flush();
    const long pid = sys(__NR_fork);
    if (pid == 0) {
        if (prepare) prepare();
        sys(__NR_exit_group, 100 - sys(__NR_execveat, fd, "", words, environment, 0x1000));
    }
    int status = 0;
    sys(__NR_wait4, pid, &status, 0, 0);
    say("status", (u64)status);
    sys(__NR_close, fd);
}

static void try_script(const char* what) {
    try_exec(what, file_with(text, size, 0755), 0);
}

/// Scripts that are "#!NAME", `after`, and then blanks, with and without a newline, up to the end of the buffer.
static void lines(void) {
    static const char* const kAfter[] = {"",   " ",    "\t",    "\n",      " \n",       "  \t\n",
                                         " x", " x  ", " x \n", " x y \n", "  \tx\t\n", " x\ny\n"};
    for (size_t i = 0; i < sizeof kAfter / sizeof *kAfter; ++i) {
        begin("#!");
        add(own);
        add(kAfter[i]);
        try_script(kAfter[i]);
    }
    static const char* const kWithout[] = {"#!", "#! ", "#!\n", "#! \n", "#", "#!\t\t"};
    for (size_t i = 0; i < sizeof kWithout / sizeof *kWithout; ++i) begin(kWithout[i]), try_script(kWithout[i]);
}

static void nuls(void) {
    begin("#!");
    add(own);
    text[size++] = 0;
    add(" x\n");
    try_script("a NUL after the name");
    begin("#!");
    add(own);
    add(" x");
    text[size++] = 0;
    add("y\n");
    try_script("a NUL in the argument");
    begin("#!");
    text[size++] = 0;
    add(own);
    try_script("a NUL instead of a name");
}

static void ends_of_the_buffer(void) {
    for (size_t end = kBuffer - 3; end <= kBuffer + 1; ++end) {
        begin("#!");
        add(own);
        fill_to(end, ' ');
        try_script("blanks to the end");
        add("\n");
        try_script("blanks and a newline");
        begin("#!");
        fill_to(end - length_of(own), ' ');
        add(own);
        try_script("a name to the end");
        add(" x\n");
        try_script("a name and an argument");
        begin("#!");
        add(own);
        add(" ");
        fill_to(end, 'q');
        try_script("an argument to the end");
        add("z\n");
        try_script("an argument and a newline");
    }
    begin("#!");
    fill_to(kBuffer + 40, ' ');
    try_script("blanks only");
}

static int become_other(void) {
    sys(__NR_setgroups, 0, 0);
    sys(__NR_setresgid, kOtherUser, kOtherUser, kOtherUser);
    return (int)sys(__NR_setresuid, kOtherUser, kOtherUser, kOtherUser);
}

static int become_other_for_good(void) {
    sys(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return become_other();
}

/// As root these files belong to another user than the one who executes them; otherwise to the same.
static void set_user_id(void) {
    begin("#!/bin/true\n");
    try_exec("set-user-id script", file_with(text, size, 06755), become_other);
    static char program[65536];
    const int in = (int)sys(__NR_open, own, O_RDONLY);
    const long bytes = sys(__NR_read, in, program, sizeof program);
    sys(__NR_close, in);
    try_exec("set-user-id program, no new privileges", file_with(program, (size_t)bytes, 06755), become_other_for_good);
}

int program(int argc, char** argv, char** envp) {
    environment = envp;
    if (argc > 1) {
        for (int i = 1; i < argc; ++i) put("["), put(argv[i]), put("]");
        put(" ");
        say("euid", (u64)sys(__NR_geteuid));
        return 7;
    }
    own = argv[0];
    lines();
    nuls();
    ends_of_the_buffer();
    set_user_id();
    return 0;
}
