// A program that executes itself fifteen times in the same process; the number of its arguments is the count.
#include "tiny.h"

int program(int argc, char** argv, char** envp) {
    if (argc == 16) {
        say("pid kept", 1);
        return argc;
    }
    char* arguments[20];
    for (int i = 0; i < argc; ++i) arguments[i] = argv[i];
    arguments[argc] = "x";
    arguments[argc + 1] = 0;
    sys(__NR_execve, argc % 2 ? argv[0] : "/proc/self/exe", arguments, envp);
    return 99;
}
