// by_model.c: a function compiled for several CPUs. libgcc selects the version by the CPU's model alone.
#include <stdio.h>

static unsigned values[1024];

__attribute__((target_clones("arch=skylake-avx512", "arch=skylake", "default"), noinline)) double sum(unsigned count) {
    double total = 0;
    for (unsigned i = 0; i < count; i++) total += (double)values[i] * 3;  // AVX-512 has a conversion of unsigned integers
    return total;
}

int main(void) {
    for (unsigned i = 0; i < 1024; i++) values[i] = i & 15;
    printf("%.0f\n", sum(1024));
    return 0;
}
