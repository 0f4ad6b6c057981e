/* coroutines.c: two coroutines are switched in turn inside of calls of `work`: 6 calls, each of which returns on its
 * own stack, while the other coroutine is in a call of its own. */
#include <stdio.h>
#include <ucontext.h>

static ucontext_t caller, coroutines[2];
static char stacks[2][65536];

__attribute__((noinline)) int work(int which) {
    __asm__ volatile("");
    swapcontext(&coroutines[which], &caller);
    __asm__ volatile("");
    return which;
}

static void body(int which) {
    for (int i = 0; i < 3; ++i) work(which);
}

int main(void) {
    for (int i = 0; i < 2; ++i) {
        getcontext(&coroutines[i]);
        coroutines[i].uc_stack.ss_sp = stacks[i];
        coroutines[i].uc_stack.ss_size = sizeof stacks[i];
        coroutines[i].uc_link = &caller;
        makecontext(&coroutines[i], (void (*)(void))body, 1, i);
    }
    for (int round = 0; round < 4; ++round)
        for (int i = 0; i < 2; ++i) swapcontext(&caller, &coroutines[i]);
    puts("done");
    return 0;
}
