// A function that is compiled for several CPUs. The compiler's library chooses by the CPU's model alone.
#include <stdio.h>

static unsigned values[1024];

__attribute__((target_clones("arch=skylake-avx512", "arch=skylake", "default"), noinline)) double sum(unsigned count) {
    double total = 0;
    for (unsigned i = 0; i < count; i++) total += (double)values[i] * 3;  // AVX-512 converts what has no sign
    return total;
}

int main(void) {
    for (unsigned i = 0; i < 1024; i++) values[i] = i & 15;
    printf("%.0f\n", sum(1024));
    return 0;
}
