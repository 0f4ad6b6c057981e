// A program that executes itself fifteen times in the same process, by its path and by two links; the number of its
// arguments is the count.
#include "tiny.h"

/// "/proc/PID/exe" of this process.
static const char* numbered_link(void) {
    static char text[32] = "/proc/";
    char* to = text + 6;
    const long pid = sys(__NR_getpid);
    long unit = 1;
    while (pid / unit >= 10) unit *= 10;
    for (; unit > 0; unit /= 10) *to++ = (char)('0' + pid / unit % 10);
    for (const char* from = "/exe"; *from; ++from) *to++ = *from;
    return text;
}

int program(int argc, char** argv, char** envp) {
    if (argc == 16) {
        say("pid kept", 1);
        return argc;
    }
    char* arguments[20];
    for (int i = 0; i < argc; ++i) arguments[i] = argv[i];
    arguments[argc] = "x";
    arguments[argc + 1] = 0;
    const char* const paths[] = {argv[0], "/proc/self/exe", numbered_link()};
    sys(__NR_execve, paths[argc % 3], arguments, envp);
    return 99;
}
