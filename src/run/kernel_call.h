// kernel_call.h: system calls without a libc, and conversions between pointers and addresses. Arguments and results are
// those of the kernel: errno is not set, and an interrupted call is not made again.
#pragma once

#include <asm/unistd.h>

#include <cstdint>

namespace anyperf::run {

/// Makes a system call. The result is the kernel's: -4095..-1 is a negated errno, anything else is the value.
inline long kernel_call(long number, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0, std::uint64_t d = 0,
                        std::uint64_t e = 0, std::uint64_t f = 0) {
    register std::uint64_t r10 asm("r10") = d;
    register std::uint64_t r8 asm("r8") = e;
    register std::uint64_t r9 asm("r9") = f;
    long result;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
}

/// Whether the result of kernel_call() is a negated errno.
inline bool is_error(long result) {
    return static_cast<unsigned long>(result) >= static_cast<unsigned long>(-4095L);
}

template <class T>
std::uint64_t address_of(T* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

template <class T>
T* at_address(std::uint64_t address) {
    return reinterpret_cast<T*>(address);
}

}  // namespace anyperf::run
