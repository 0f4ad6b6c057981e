"""`anyperf run --deterministic`: where turns end follows from the instructions that have run, not from how they were
translated or what is measured."""
import os
import subprocess
import sys
import unittest

from repeated_runs import ANYPERF, RepeatedRuns

# Threads add to a number without a lock, in code of several shapes: the result depends on the instruction at which each
# turn ends.
SHAPES = r"""
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile unsigned long shared;
static unsigned long hash = 5381;
__attribute__((noinline)) static unsigned fib(unsigned n) { shared++; return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static void one(void) { shared += 1; }
static void two(void) { shared += 2; }
static void three(void) { shared ^= 3; }
static void (*const functions[])(void) = {one, two, three};
__attribute__((noinline)) static void jump(jmp_buf place) { shared++; longjmp(place, 1); }
static int compare(const void* a, const void* b) { shared++; return *(const int*)a - *(const int*)b; }
static void* work(void* number) {
    unsigned x = (unsigned)(long)number;
    for (volatile int round = 0; round < 40; round++) {
        x += fib(15);
        for (int i = 0; i < 3000; i++) {
            x = x * 1664525 + 1013904223;
            functions[x >> 16 & 1 ? x >> 20 & 1 : 2]();
            switch (x >> 24 & 7) {
                case 0: shared += 5; break;
                case 1: shared -= 7; break;
                case 2: shared ^= 9; break;
                case 3: shared += x; break;
                case 4: shared += 11; break;
                case 5: shared *= 3; break;
                default: shared++;
            }
        }
        jmp_buf place;
        volatile int jumps = 0;
        setjmp(place);
        if (++jumps < 300) jump(place);
        int values[200];
        for (int i = 0; i < 200; i++) values[i] = (x = x * 69069 + 1) >> 8;
        qsort(values, 200, sizeof *values, compare);
        char text[3000];
        memset(text, 'a', sizeof text - 1), text[sizeof text - 1] = 0;
        shared += strlen(text) + strtol("12345", 0, 10);
        unsigned carry = 0, low = 1;
        for (int i = 0; i < 500; i++) __asm__("1: adcl $7, %0; loop 1b" : "+r"(low), "+c"((unsigned long){3}) :: "cc");
        shared += low + carry;
    }
    return 0;
}
int main(void) {
    pthread_t thread[3];
    for (long i = 0; i < 3; i++) pthread_create(&thread[i], 0, work, (void*)i);
    for (int i = 0; i < 3; i++) pthread_join(thread[i], 0);
    for (int i = 0; i < 3; i++) hash = hash * 33 + shared;
    printf("%lx\n", hash);
    return 0;
}
"""


class TurnsEnd(RepeatedRuns):
    def output(self, program, *command, environment=()):
        # Short turns: the order with priorities has some. Names of the same length leave the program's stack as it is. One CPU:
        # by default `run` shows an Intel one, and what counts the host's, for which the loader executes other instructions.
        run = subprocess.run([ANYPERF, *command, "--deterministic", "--order", "3", "--cpu-model", "x86-64-v2", "--", program], capture_output=True,
                             text=True, timeout=120, stdin=subprocess.DEVNULL, env={**os.environ, **dict(environment)})
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_at_one_instruction_however_the_code_is_translated(self):
        program = self.build(SHAPES)
        expected = self.output(program, "run")
        for environment in ({"ANYPERF_ENGINE_TRACES": "never"}, {"ANYPERF_ENGINE_TRACES": "1"},
                            {"ANYPERF_ENGINE_TRACES": "16"}, {"ANYPERF_ENGINE_TUPLES": "4"},
                            {"ANYPERF_ENGINE_PAIR_RETURNS": "1"}, {"ANYPERF_ENGINE_CACHE": "100000"}):
            with self.subTest(environment=environment):
                self.assertEqual(self.output(program, "run", environment=environment), expected)

    def test_at_one_instruction_whatever_is_measured(self):
        program = self.build(SHAPES)
        expected = self.output(program, "run")
        data = self.directory / "data"
        for command in (["run", "--count", "--count-to", "/dev/null"], ["stat", "-o", "/dev/null", "-e", "branches:u"],
                        ["stat", "-o", "/dev/null", "-e", "L1-dcache-load-misses:u,branch-misses:u"],
                        ["record", "-o", data, "-e", "instructions:u", "-c", "10007"],
                        ["record", "-o", data, "-e", "branches:pu", "-c", "9973", "-b"],
                        ["record", "-o", data, "-e", "instructions:u", "-c", "100003", "-g"]):
            with self.subTest(command=command):
                self.assertEqual(self.output(program, *command), expected)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
