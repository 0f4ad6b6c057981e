// Code in memory that another thread of the program fills by userfaultfd(2) when it is first executed: functions in three
// pages, one of which begins in one page and ends in the next, called while both threads run new code.
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kPages = 4, kPage = 4096 };
static unsigned char source[kPages * kPage];
static int faults;

static void put(int offset, int value) {
    const unsigned char code[] = {0xb8, (unsigned char)value, 0, 0, 0, 0xc3};  // mov $value,%eax; ret
    memcpy(source + offset, code, sizeof code);
}

static void* serve(void* argument) {
    const int fd = *(int*)argument;
    for (;;) {
        struct uffd_msg message;
        if (read(fd, &message, sizeof message) != sizeof message) return 0;
        const unsigned long page = message.arg.pagefault.address & -(unsigned long)kPage;
        struct uffdio_copy copy = {.dst = page, .src = (unsigned long)source + (page - *(unsigned long*)((char*)argument + 8)), .len = kPage};
        __atomic_add_fetch(&faults, 1, __ATOMIC_SEQ_CST);  // before the other thread runs on
        if (ioctl(fd, UFFDIO_COPY, &copy) != 0) return 0;
    }
}

int main(void) {
    const int fd = (int)syscall(SYS_userfaultfd, 0);
    struct uffdio_api api = {.api = UFFD_API};
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) return printf("no userfaultfd\n"), 0;
    char* const memory = mmap(0, sizeof source, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register range = {.range = {(unsigned long)memory, sizeof source}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (ioctl(fd, UFFDIO_REGISTER, &range) != 0) return printf("cannot register\n"), 1;
    put(0, 1);
    put(kPage + 100, 2);
    put(3 * kPage - 3, 3);  // in two pages
    struct {
        int fd;
        unsigned long base;
    } argument = {fd, (unsigned long)memory};
    pthread_t thread;
    pthread_create(&thread, 0, serve, &argument);
    const int offsets[] = {0, kPage + 100, 3 * kPage - 3};
    for (int i = 0; i < 3; ++i) {
        printf("%d ", ((int (*)(void))(memory + offsets[i]))());
        printf("after %d faults\n", __atomic_load_n(&faults, __ATOMIC_SEQ_CST));
    }
    return 0;
}
