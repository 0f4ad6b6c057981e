// modelled.c: accesses and branches of every kind that caches, TLBs and branch predictors tell apart.
#include "tiny.h"

enum { kBytes = 96 * 1024, kLine = 64, kPages = 160 };

static unsigned char memory[kBytes] __attribute__((aligned(4096)));
static volatile unsigned char many[kPages][4096] __attribute__((aligned(4096)));
static unsigned random_state = 1;

static unsigned next_random(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

/// Loads and stores with a distance, twice, so that the second pass hits where the first has filled.
static unsigned walk(unsigned distance) {
    unsigned sum = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (unsigned at = 0; at + 8 <= kBytes; at += distance) {
            sum += memory[at];
            memory[at + 4] = (unsigned char)sum;
        }
    return sum;
}

/// Accesses over the ends of lines and pages.
static u64 misaligned(void) {
    u64 sum = 0;
    for (unsigned at = kLine - 3; at + 8 < kBytes; at += 509) sum += *(volatile u64*)(memory + at);
    for (unsigned at = 4096 - 5; at + 8 < kBytes; at += 4096) *(volatile u64*)(memory + at) += sum;
    return sum;
}

static unsigned chase(unsigned steps) {
    unsigned at = 0;
    for (unsigned i = 0; i < steps; ++i) at = (memory[at] * 997u + next_random()) % kBytes;
    return at;
}

/// Random loads from more pages than a first TLB has. Half of them find their line in L1.
static unsigned pages(unsigned times) {
    unsigned sum = 0;
    for (unsigned i = 0; i < times; ++i) {
        const unsigned drawn = next_random();
        const unsigned page = drawn % kPages;
        sum += many[page][(page * 5 + (drawn >> 12) % 3 * 2) % 64 * kLine];
    }
    return sum;
}

/// A branch that follows no rule, one that alternates and one that goes one way only.
static unsigned branches(unsigned times) {
    unsigned sum = 0;
    for (unsigned i = 0; i < times; ++i) {
        if (next_random() & 1) sum += 3;
        if (i & 1) sum ^= 5;
        if (i > times) sum = 0;
    }
    return sum;
}

static unsigned recurse(unsigned depth) {
    volatile unsigned char local[48];
    local[depth % sizeof local] = (unsigned char)depth;
    return depth == 0 ? local[0] : recurse(depth - 1) + local[depth % sizeof local];
}

static unsigned add_one(unsigned x) { return x + 1; }
static unsigned twice(unsigned x) { return x * 2; }
static unsigned inverted(unsigned x) { return ~x; }
static unsigned (*const kFunctions[])(unsigned) = {add_one, twice, inverted};

static unsigned indirect(unsigned times) {
    unsigned x = 0;
    for (unsigned i = 0; i < times; ++i) x = kFunctions[(i % 7 == 0 ? next_random() : i) % 3](x);
    return x;
}

static void copies(void) {
    memcpy(memory + 1000, memory + 50000, 3000);
    memset(memory + 70001, 7, 5001);
    __asm__ volatile("std; rep movsq; cld" : : "S"(memory + 9000), "D"(memory + 20000), "c"(100ul) : "memory");
}

int program(int argc, char** argv, char** envp) {
    unsigned sum = walk(8) + walk(kLine) + walk(4096) + walk(1000);
    sum += (unsigned)misaligned() + chase(3000) + branches(2000) + recurse(40) + indirect(600);
    copies();
    sum += walk(192) + pages(4000);
    say("sum", sum != 1);
    return 0;
}
