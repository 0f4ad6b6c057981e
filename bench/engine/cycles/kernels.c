// kernels.c: loops with one known limit each, for the accuracy of modelled cycles (cycles.py). `kernels NAME ROUNDS`
// runs one and prints its CPU time in ns, without its set-up; `kernels` lists their names with the rounds that take some
// 20 million instructions. `kernels latency BYTES` follows a chain of pointers through so many bytes and prints the ps
// of a step, `kernels faults PAGES` writes to new pages and prints the ns.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef uint64_t u64;
static volatile u64 sink;
static u64 state = 88172645463325252u;

static u64 next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static u64 started;

static u64 now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}
/// The set-up ends here: what was allocated has been written, so no page faults follow.
static void begin(void) { started = now(); }

#define KERNEL __attribute__((noinline, noclone)) static void

// Dependencies and throughput.
KERNEL add_chain(u64 n) {
    u64 x = n;
    for (u64 i = 0; i < n; ++i) asm volatile("add %1, %0; xor %1, %0; add %1, %0; xor %1, %0" : "+r"(x) : "r"(i));
    sink = x;
}
KERNEL add_wide(u64 n) {
    u64 a = 1, b = 2, c = 3, d = 4;
    for (u64 i = 0; i < n; ++i)
        asm volatile("add %4, %0; xor %4, %1; add %4, %2; xor %4, %3" : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "r"(i));
    sink = a + b + c + d;
}
KERNEL mul_chain(u64 n) {
    u64 x = 3;
    for (u64 i = 0; i < n; ++i) x = x * 0x9e3779b97f4a7c15u + 1;
    sink = x;
}
KERNEL mul_wide(u64 n) {
    u64 a = 3, b = 5, c = 7, d = 9;
    for (u64 i = 0; i < n; ++i)
        asm volatile("imul $3, %0, %0; imul $5, %1, %1; imul $7, %2, %2; imul $9, %3, %3"
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    sink = a + b + c + d;
}
KERNEL div_chain(u64 n) {
    u64 x = ~0u;
    for (u64 i = 0; i < n; ++i) x = (uint32_t)(0xffffff00u - i) / ((uint32_t)x | 1) + 77777;
    sink = x;
}
KERNEL div_wide(u64 n) {
    u64 s = 0;
    for (u64 i = 1; i <= n; ++i) s += (uint32_t)0xfffffff0u / (uint32_t)i;
    sink = s;
}
KERNEL fp_add_chain(u64 n) {
    double x = 0;
    for (u64 i = 0; i < n; ++i) x += 1.25;
    sink = (u64)x;
}
KERNEL fp_add_wide(u64 n) {
    double a = 0, b = 1, c = 2, d = 3;
    for (u64 i = 0; i < n; ++i) {
        a += 1.5;
        b += 2.5;
        c += 3.5;
        d += 4.5;
        asm volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d));
    }
    sink = (u64)(a + b + c + d);
}
KERNEL fp_mul_chain(u64 n) {
    double x = 1;
    for (u64 i = 0; i < n; ++i) x = x * 0.99999 + 0.5;
    sink = (u64)x;
}
KERNEL fp_div_chain(u64 n) {
    double x = 3;
    for (u64 i = 0; i < n; ++i) x = 10 / x + 1;
    sink = (u64)x;
}
KERNEL fp_sqrt_chain(u64 n) {
    double x = 3;
    for (u64 i = 0; i < n; ++i) asm volatile("sqrtsd %0, %0; addsd %0, %0" : "+x"(x));
    sink = (u64)x;
}
KERNEL shift_mix(u64 n) {
    u64 x = n | 1;
    for (u64 i = 0; i < n; ++i) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    sink = x;
}
KERNEL crc_table(u64 n) {
    static uint32_t table[256];
    for (u64 i = 0; i < 256; ++i) table[i] = (uint32_t)(i * 0x04c11db7u);
    uint32_t crc = 1;
    for (u64 i = 0; i < n; ++i) crc = table[(crc ^ i) & 255] ^ crc >> 8;
    sink = crc;
}
KERNEL popcount_sum(u64 n) {
    u64 s = 0;
    for (u64 i = 0; i < n; ++i) {
        u64 x = i * 0x123456789u;
        x -= x >> 1 & 0x5555555555555555u;
        x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
        s += ((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;
    }
    sink = s;
}
KERNEL store_forward(u64 n) {
    volatile u64 x = 0;
    for (u64 i = 0; i < n; ++i) x += i;
    sink = x;
}

// Memory: sets that fit L1, L2, L3, or nothing.
static u64* chain_of(u64 bytes) {
    const u64 count = bytes / 64;
    u64* memory = aligned_alloc(4096, bytes);
    u64* order = malloc(count * sizeof *order);
    for (u64 i = 0; i < count; ++i) order[i] = i;
    for (u64 i = count - 1; i > 0; --i) {
        const u64 j = next() % i, t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    for (u64 i = 0; i < count; ++i) memory[order[i] * 8] = (u64)&memory[order[(i + 1) % count] * 8];
    free(order);
    return memory;
}
__attribute__((noinline)) static void chase(u64 bytes, u64 n) {
    u64* at = chain_of(bytes);
    begin();
    for (u64 i = 0; i < n; ++i) at = (u64*)*at;
    sink = (u64)at;
}
KERNEL chase_l1(u64 n) { chase(16 << 10, n); }
KERNEL chase_l2(u64 n) { chase(256 << 10, n); }
KERNEL chase_l3(u64 n) { chase(8 << 20, n); }
KERNEL chase_memory(u64 n) { chase(64 << 20, n); }
__attribute__((noinline)) static void sum(u64 words, u64 step, u64 n) {
    u64* memory = calloc(words, sizeof *memory);
    u64 s = 0;
    for (u64 i = 0; i < words; i += 512) memory[i] = i;
    begin();
    for (u64 i = 0, at = 0; i < n; ++i, at = (at + step) & (words - 1)) s += memory[at];
    sink = s;
}
KERNEL sum_small(u64 n) { sum(1 << 11, 1, n); }
KERNEL sum_row(u64 n) { sum(1 << 21, 1, n); }
KERNEL sum_column(u64 n) { sum(1 << 21, 1024 + 8, n); }
KERNEL random_read(u64 n) {
    const u64 words = 1 << 20;
    u64* memory = calloc(words, 8);
    for (u64 i = 0; i < words; i += 8) memory[i] = i;
    begin();
    u64 x = 1, s = 0;
    for (u64 i = 0; i < n; ++i) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        s += memory[x >> 44];
    }
    sink = s;
}
KERNEL histogram(u64 n) {
    static uint32_t bins[4096];
    for (u64 i = 0; i < n; ++i) ++bins[next() & 4095];
    sink = bins[7];
}
KERNEL copy_small(u64 n) {
    static char a[8192], b[8192];
    for (u64 i = 0; i < n; ++i) {
        for (u64 k = 0; k < 8192; k += 8) *(u64*)(b + k) = *(u64*)(a + k);
        asm volatile("" ::: "memory");
    }
}
KERNEL daxpy(u64 n) {
    static double x[1024], y[1024];
    for (u64 i = 0; i < n; ++i) {
        for (int k = 0; k < 1024; ++k) y[k] += 1.5 * x[k];
        asm volatile("" ::: "memory");
    }
}

// Branches.
__attribute__((noinline)) static void branchy(int sorted, u64 n) {
    static unsigned char data[32768];
    for (u64 i = 0; i < sizeof data; ++i) data[i] = (unsigned char)(sorted ? i >> 7 : next() >> 20);
    begin();
    u64 s = 0;
    for (u64 i = 0; i < n; ++i)
        if (data[i & 32767] >= 128) {
            s += data[i & 32767];
            asm volatile("" : "+r"(s));
        }
    sink = s;
}
KERNEL branch_sorted(u64 n) { branchy(1, n); }
KERNEL branch_random(u64 n) { branchy(0, n); }
KERNEL collatz(u64 n) {
    u64 steps = 0;
    for (u64 i = 1; i < n; ++i)
        for (u64 x = i; x != 1; ++steps) x = x & 1 ? 3 * x + 1 : x >> 1;
    sink = steps;
}
static u64 op_a(u64 x) { return x + 1; }
static u64 op_b(u64 x) { return x ^ 5; }
static u64 op_c(u64 x) { return x * 3; }
static u64 op_d(u64 x) { return x - 7; }
static u64 (*volatile const ops[4])(u64) = {op_a, op_b, op_c, op_d};
KERNEL calls_regular(u64 n) {
    u64 x = 1;
    for (u64 i = 0; i < n; ++i) x = ops[i & 3](x);
    sink = x;
}
KERNEL calls_random(u64 n) {
    u64 x = 1;
    for (u64 i = 0; i < n; ++i) x = ops[next() & 3](x);
    sink = x;
}
__attribute__((noinline)) static u64 fib(u64 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
KERNEL recursion(u64 n) { sink = fib(n); }
KERNEL binary_search(u64 n) {
    static uint32_t sorted[65536];
    for (uint32_t i = 0; i < 65536; ++i) sorted[i] = i * 3;
    begin();
    u64 found = 0;
    for (u64 i = 0; i < n; ++i) {
        const uint32_t key = (uint32_t)(next() % 196608);
        u64 low = 0, high = 65536;
        while (low < high) {
            const u64 middle = (low + high) / 2;
            if (sorted[middle] < key)
                low = middle + 1;
            else
                high = middle;
        }
        found += low;
    }
    sink = found;
}

// Small programs.
KERNEL matrix(u64 n) {
    static double a[64][64], b[64][64], c[64][64];
    for (int i = 0; i < 4096; ++i) a[i / 64][i % 64] = b[i % 64][i / 64] = (double)(next() % 9);
    for (u64 r = 0; r < n; ++r)
        for (int i = 0; i < 64; ++i)
            for (int j = 0; j < 64; ++j) {
                asm volatile("" ::: "memory");
                double s = 0;
                for (int k = 0; k < 64; ++k) s += a[i][k] * b[k][j];
                c[i][j] = s;
            }
    sink = (u64)c[3][4];
}
KERNEL sieve(u64 n) {
    static char composite[100000];
    for (u64 r = 0; r < n; ++r) {
        memset(composite, 0, sizeof composite);
        for (u64 i = 2; i * i < sizeof composite; ++i)
            if (!composite[i])
                for (u64 j = i * i; j < sizeof composite; j += i) composite[j] = 1;
    }
    sink = (u64)composite[77];
}
static int by_value(const void* a, const void* b) {
    const uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
    return x < y ? -1 : x > y;
}
KERNEL quick_sort(u64 n) {
    uint32_t* v = malloc(n * 4);
    for (u64 i = 0; i < n; ++i) v[i] = (uint32_t)next();
    begin();
    qsort(v, n, 4, by_value);
    sink = v[n / 2];
}
KERNEL hash_table(u64 n) {
    static u64 slots[1 << 16];
    u64 hits = 0;
    for (u64 i = 0; i < n; ++i) {
        const u64 key = next() % 50000 + 1;
        u64 at = key * 0x9e3779b97f4a7c15u >> 48;
        while (slots[at] != 0 && slots[at] != key) at = (at + 1) & 65535;
        hits += slots[at] == key;
        slots[at] = key;
    }
    sink = hits;
}
KERNEL string_scan(u64 n) {
    static char text[4096];
    for (int i = 0; i < 4095; ++i) text[i] = (char)('a' + i % 26);
    u64 s = 0;
    for (u64 r = 0; r < n; ++r)
        for (const char* p = text; *p; ++p) s += *p == 'q';
    sink = s;
}
KERNEL nbody(u64 n) {
    double x[4] = {0, 1, 2, 3}, v[4] = {0};
    for (u64 r = 0; r < n; ++r)
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) {
                if (i == j) continue;
                const double d = x[j] - x[i] + 0.01;
                const double inverse = 1 / sqrt(d * d + 0.1);
                v[i] += d * inverse * inverse * inverse * 0.001;
                x[i] += v[i] * 0.001;
            }
    sink = (u64)(x[0] * 1000);
}
KERNEL interpreter(u64 n) {
    static unsigned char code[64];
    for (int i = 0; i < 63; ++i) code[i] = (unsigned char)(next() % 6);
    code[63] = 6;
    u64 a = 1, b = 2, at = 0;
    for (u64 i = 0; i < n; ++i) switch (code[at++]) {
            case 0: a += b; break;
            case 1: b ^= a; break;
            case 2: a = a << 1 | a >> 63; break;
            case 3: b -= 3; break;
            case 4: a *= 5; break;
            case 5: b += a >> 3; break;
            default: at = 0;
        }
    sink = a + b;
}
KERNEL list_walk(u64 n) {
    struct node {
        struct node* next;
        u64 value;
    }* nodes = malloc(4096 * sizeof *nodes);
    for (u64 i = 0; i < 4096; ++i) nodes[i] = (struct node){&nodes[(i * 1237 + 1) & 4095], i};
    begin();
    const struct node* p = nodes;
    u64 s = 0;
    for (u64 i = 0; i < n; ++i) s += p->value, p = p->next;
    sink = s;
}

static const struct {
    const char* name;
    void (*run)(u64);
    u64 rounds;
} kernels[] = {
    {"add_chain", add_chain, 4000000},     {"add_wide", add_wide, 4000000},
    {"mul_chain", mul_chain, 5000000},     {"mul_wide", mul_wide, 3000000},
    {"div_chain", div_chain, 2500000},     {"div_wide", div_wide, 3500000},
    {"fp_add_chain", fp_add_chain, 6000000}, {"fp_add_wide", fp_add_wide, 3000000},
    {"fp_mul_chain", fp_mul_chain, 5000000}, {"fp_div_chain", fp_div_chain, 4000000},
    {"fp_sqrt_chain", fp_sqrt_chain, 4000000}, {"shift_mix", shift_mix, 2000000},
    {"crc_table", crc_table, 3000000},     {"popcount_sum", popcount_sum, 1000000},
    {"store_forward", store_forward, 4000000}, {"chase_l1", chase_l1, 6000000},
    {"chase_l2", chase_l2, 5000000},       {"chase_l3", chase_l3, 3000000},
    {"chase_memory", chase_memory, 1000000}, {"sum_small", sum_small, 4000000},
    {"sum_row", sum_row, 4000000},         {"sum_column", sum_column, 4000000},
    {"random_read", random_read, 3000000}, {"histogram", histogram, 2000000},
    {"copy_small", copy_small, 4000},      {"daxpy", daxpy, 5000},
    {"branch_sorted", branch_sorted, 3000000}, {"branch_random", branch_random, 3000000},
    {"collatz", collatz, 30000},           {"calls_regular", calls_regular, 2000000},
    {"calls_random", calls_random, 1000000}, {"recursion", recursion, 29},
    {"binary_search", binary_search, 120000}, {"matrix", matrix, 15},
    {"sieve", sieve, 15},                  {"quick_sort", quick_sort, 80000},
    {"hash_table", hash_table, 700000},    {"string_scan", string_scan, 1200},
    {"nbody", nbody, 80000},               {"interpreter", interpreter, 2000000},
    {"list_walk", list_walk, 5000000},
};

static void print_latency(u64 bytes) {
    const u64 steps = 1000000;
    chase(bytes, steps);
    printf("%llu\n", (unsigned long long)((now() - started) * 1000 / steps));
}

/// The CPU time of so many page faults.
static void print_faults(u64 pages) {
    char* memory = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    begin();
    for (u64 i = 0; i < pages; ++i) memory[i * 4096] = 1;
    printf("%llu\n", (unsigned long long)(now() - started));
}

int main(int count, char** arguments) {
    if (count == 3 && strcmp(arguments[1], "faults") == 0) return print_faults(strtoull(arguments[2], NULL, 10)), 0;
    if (count == 3 && strcmp(arguments[1], "latency") == 0) return print_latency(strtoull(arguments[2], NULL, 10)), 0;
    const size_t all = sizeof kernels / sizeof *kernels;
    for (size_t i = 0; i < all; ++i) {
        if (count == 1) printf("%s %llu\n", kernels[i].name, (unsigned long long)kernels[i].rounds);
        if (count == 3 && strcmp(arguments[1], kernels[i].name) == 0) {
            begin();
            kernels[i].run(strtoull(arguments[2], NULL, 10));
            printf("%llu\n", (unsigned long long)(now() - started));
            return 0;
        }
    }
    return count != 1;
}
