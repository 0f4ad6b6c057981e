// own_stack.cpp: a main() that goes on with another stack. The kernel gave this process a small one, because of a limit
// that the user set for the command (ulimit -s), and the limit cannot be raised without changing it for the command.
// ucontext(3) switches stacks without a thread, so that everything stays on the thread that the process began with.
#include "cli/command/own_stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace anyperf::cli {

namespace {

constexpr rlim_t kEnough = rlim_t{1} << 20;
constexpr std::size_t kStackBytes = std::size_t{8} << 20;  // Linux' default limit

bool has_enough_stack() {
    rlimit limit{};
    return ::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kEnough;
}

/// A call on another stack.
struct Call {
    const std::function<int()>* body = nullptr;
    int result = 0;
    ucontext_t caller{};
    ucontext_t callee{};
};

/// makecontext(3) passes ints, so the address of the Call comes in two halves.
void run_body(unsigned high, unsigned low) {
    auto& call = *reinterpret_cast<Call*>(std::uintptr_t{high} << 32 | low);
    call.result = (*call.body)();
}

/// Without this, new threads have stacks of the size of the soft limit (pthread_create(3), glibc).
void give_threads_enough_stack() {
    pthread_attr_t attributes;
    if (::pthread_attr_init(&attributes) != 0) return;
    ::pthread_attr_setstacksize(&attributes, kStackBytes);
    ::pthread_setattr_default_np(&attributes);
    ::pthread_attr_destroy(&attributes);
}

}  // namespace

int with_enough_stack(const std::function<int()>& body) {
    if (has_enough_stack()) return body();
    void* const memory = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return body();
    give_threads_enough_stack();
    Call call;
    call.body = &body;
    ::getcontext(&call.callee);
    call.callee.uc_stack.ss_sp = memory;
    call.callee.uc_stack.ss_size = kStackBytes;
    call.callee.uc_link = &call.caller;
    const auto address = reinterpret_cast<std::uintptr_t>(&call);
    ::makecontext(&call.callee, reinterpret_cast<void (*)()>(run_body), 2, static_cast<unsigned>(address >> 32),
                  static_cast<unsigned>(address));
    ::swapcontext(&call.caller, &call.callee);
    ::munmap(memory, kStackBytes);
    return call.result;
}

}  // namespace anyperf::cli
