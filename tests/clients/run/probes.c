/* probes.c: calls `probed` with 0, 1, ... 8 and a text; a third of the calls end by longjmp instead of a return. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;

__attribute__((noinline, noipa)) int probed(int number, const char* text) {
    __asm__ volatile("" : : "r"(text));
    if (number % 3 == 0) longjmp(back, 1);
    return number * 2;
}

int main(void) {
    static const char* const texts[] = {"zero", "one", "two"};
    for (volatile int i = 0; i < 9; i = i + 1)
        if (setjmp(back) == 0) probed(i, texts[i % 3]);
    return 0;
}
