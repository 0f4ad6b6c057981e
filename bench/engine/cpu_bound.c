// cpu_bound.c: small compute-bound programs for engine.py: cpu_bound NAME [PERCENT of the work]. At 100 percent each takes
// about a second natively. Each stresses one thing that is hard for a binary translator: calls and returns, indirect
// jumps and calls, conditional branches, memory accesses, floating point, libc's string functions.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long work = 100;
static volatile uint64_t result;

static uint64_t __attribute__((noinline)) fib_of(unsigned n) {
    __asm__ volatile("");  // otherwise the compiler turns the recursion into loops
    return n < 2 ? n : fib_of(n - 1) + fib_of(n - 2);
}

/// Direct calls and returns.
static void fib(void) {
    volatile unsigned n = 32;  // otherwise the compiler calls it once and multiplies
    for (unsigned long i = 0; i < work; ++i) result += fib_of(n);
}

static int by_value(const void* a, const void* b) {
    const uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
    return (x > y) - (x < y);
}

static uint32_t random_state = 1;
static uint32_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    return random_state ^= random_state << 5;
}

/// libc's qsort(): mispredicted branches, and an indirect call for each comparison.
static void sort(void) {
    enum { kCount = 20000 };
    static uint32_t values[kCount];
    for (unsigned long i = 0; i < work * 3; ++i) {
        for (int k = 0; k < kCount; ++k) values[k] = next_random();
        qsort(values, kCount, sizeof *values, by_value);
        result += values[7];
    }
}

/// A hash table with linear probing: loads that depend on computed addresses.
static void hash(void) {
    enum { kSlots = 1 << 16 };
    static uint64_t keys[kSlots], counts[kSlots];
    for (unsigned long i = 0; i < work * 800000; ++i) {
        const uint64_t key = next_random() % 40000 + 1;
        uint64_t slot = key * 0x9e3779b97f4a7c15u >> 48;
        while (keys[slot] && keys[slot] != key) slot = (slot + 1) % kSlots;
        keys[slot] = key;
        ++counts[slot];
    }
    result += counts[99];
}

/// A product of matrices: floating point in a short loop.
static void matrix(void) {
    enum { kSize = 96 };
    static double a[kSize][kSize], b[kSize][kSize], c[kSize][kSize];
    for (int i = 0; i < kSize; ++i)
        for (int j = 0; j < kSize; ++j) a[i][j] = i + j, b[i][j] = i - j;
    for (unsigned long times = 0; times < work * 16; ++times)
        for (int i = 0; i < kSize; ++i)
            for (int j = 0; j < kSize; ++j) {
                double sum = 0;
                for (int k = 0; k < kSize; ++k) sum += a[i][k] * b[k][j];
                c[i][j] = sum;
            }
    result += (uint64_t)c[5][5];
}

/// Rounds like SHA-2's: long straight code of integer arithmetic.
static void digest(void) {
    uint32_t state[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (unsigned long i = 0; i < work * 1200000; ++i) {
        const uint32_t a = state[0], e = state[4];
        const uint32_t mixed = state[7] + ((e >> 6 | e << 26) ^ (e >> 11 | e << 21)) + ((e & state[5]) ^ (~e & state[6])) + (uint32_t)i;
        memmove(state + 1, state, 7 * sizeof *state);
        state[4] += mixed;
        state[0] = mixed + ((a >> 2 | a << 30) ^ (a >> 13 | a << 19));
    }
    result += state[3];
}

/// An interpreter of a machine with eight instructions, dispatched by indirect jumps (computed goto).
static void interpreter(void) {
    static const unsigned char program[] = {0, 1, 2, 3, 1, 4, 2, 5, 3, 6, 1, 2, 7};
    static void* const labels[] = {&&load, &&add, &&shift, &&mix, &&store, &&compare, &&skip, &&again};
    uint64_t a = 1, b = 2, memory[16] = {0}, left = work * 500000;
    const unsigned char* at = program;
#define NEXT goto* labels[*at++]
    NEXT;
load: a = memory[b & 15]; NEXT;
add: a += b; NEXT;
shift: b = b << 3 | b >> 61; NEXT;
mix: b ^= a * 31; NEXT;
store: memory[a & 15] = b; NEXT;
compare: b += a > memory[3]; NEXT;
skip: at += a & 1; NEXT;
again:
    at = program;
    if (--left) NEXT;
    result += a + b;
}

/// libc's formatting and string functions, which are vectorized and reached through the PLT.
static void strings(void) {
    static char text[4096], other[4096];
    for (unsigned long i = 0; i < work * 8000; ++i) {
        for (int k = 0; k < 200; k += 20) snprintf(text + k, 20, "%d,word%d", k, (int)(i % 1000));
        strcpy(other, text);
        result += strlen(other) + (strchr(other, 'z') != NULL) + (uint64_t)strcmp(text, other) + strtoul(text, NULL, 10);
    }
}

struct shape {
    uint64_t (*area)(const struct shape*);
    uint64_t size;
};
static uint64_t square(const struct shape* s) { return s->size * s->size; }
static uint64_t twice(const struct shape* s) { return s->size * 2; }
static uint64_t plain(const struct shape* s) { return s->size; }

/// Calls through a pointer with three targets, in an order that is hard to predict.
static void virtual_calls(void) {
    static struct shape shapes[256];
    static uint64_t (*const kinds[])(const struct shape*) = {square, twice, plain};
    for (int i = 0; i < 256; ++i) shapes[i] = (struct shape){kinds[next_random() % 3], (uint64_t)i};
    for (unsigned long i = 0; i < work * 12000; ++i)
        for (int k = 0; k < 256; k += 2) result += shapes[k].area(&shapes[k]);
}

static const struct {
    const char* name;
    void (*run)(void);
} kPrograms[] = {{"fib", fib},       {"sort", sort},   {"hash", hash},       {"matrix", matrix},
                 {"digest", digest}, {"interpreter", interpreter}, {"strings", strings}, {"virtual_calls", virtual_calls}};

int main(int argc, char** argv) {
    if (argc > 2) work = strtoul(argv[2], NULL, 10);
    for (size_t i = 0; argc > 1 && i < sizeof kPrograms / sizeof *kPrograms; ++i)
        if (strcmp(argv[1], kPrograms[i].name) == 0) {
            kPrograms[i].run();
            printf("%lu\n", (unsigned long)result);
            return 0;
        }
    for (size_t i = 0; i < sizeof kPrograms / sizeof *kPrograms; ++i) puts(kPrograms[i].name);
    return 1;
}
