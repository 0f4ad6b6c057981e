// counts.c: what libraries choose by the CPU (strings, copies, floating-point functions), and threads that share a
// lock.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static int compare(const void* a, const void* b) {
    return strcmp(*(char* const*)a, *(char* const*)b);
}

static void* work(void* number) {
    for (long i = 0; i < 20000; ++i) {
        pthread_mutex_lock(&lock);
        total += i ^ (long)number;
        pthread_mutex_unlock(&lock);
    }
    return number;
}

int main(void) {
    enum { kStrings = 20000, kBytes = 32 << 20 };
    char** strings = malloc(kStrings * sizeof *strings);
    for (int i = 0; i < kStrings; ++i) {
        strings[i] = malloc(24);
        snprintf(strings[i], 24, "%d-%x", i * 7919 % 20011, i);
    }
    qsort(strings, kStrings, sizeof *strings, compare);
    char *from = malloc(kBytes), *to = malloc(kBytes);
    memset(from, 7, kBytes);
    memcpy(to, from, kBytes);
    double sum = 0;
    for (int i = 1; i < 20000; ++i) sum += sin(i) * exp(-i / 3000.) + pow(i, .3);
    pthread_t thread[3];
    for (long i = 0; i < 3; ++i) pthread_create(&thread[i], 0, work, (void*)i);
    for (int i = 0; i < 3; ++i) pthread_join(thread[i], 0);
    printf("%s %s %d %.17g %ld\n", strings[0], strings[kStrings - 1], memcmp(from, to, kBytes), sum, total);
    return 0;
}
