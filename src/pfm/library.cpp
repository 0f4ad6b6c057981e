// library.cpp: why calls are counted instead of locked: a reader-writer lock costs as much as encoding an event.
//
// A call adds itself to `readers` and then reads the pointer; terminate() clears the pointer and then waits until
// `readers` is 0. Both sides are sequentially consistent, so either the call sees the cleared pointer, or terminate()
// sees the call. That is an atomic addition and a subtraction for each call. pfm_initialize() and pfm_terminate()
// themselves exclude each other by a mutex.
#include "pfm/library.h"

#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string_view>

namespace anyperf::pfm {

namespace {

using catalog::MachinePmus;

// constinit: callers may use the library before main(), when constructors of this file would not have run.
constinit std::atomic<const MachinePmus*> current{nullptr};
constinit std::atomic<unsigned> readers{0};
constinit std::mutex changing;
// Not a static object: the order in which destructors run at exit is not known, and a caller's may still use the
// library.
alignas(MachinePmus) constinit unsigned char storage[sizeof(MachinePmus)] = {};

/// An environment variable; empty if it is not set.
std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view{} : std::string_view{value};
}

/// Whether the variable begins with a number other than 0, as libpfm reads its switches.
bool switched_on(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] >= '0' && value[0] <= '9' && std::atoi(value) != 0;
}

/// Prints the active PMUs if LIBPFM_VERBOSE or LIBPFM_DEBUG asks for it.
void report(const MachinePmus& machine) {
    if (!switched_on("LIBPFM_VERBOSE") && !switched_on("LIBPFM_DEBUG")) return;
    std::FILE* out = std::getenv("LIBPFM_DEBUG_STDOUT") != nullptr ? stdout : stderr;
    for (const std::uint16_t index : machine.active_pmus())
        std::fprintf(out, "anyperf libpfm: %s is active\n", catalog::c_text(catalog::pmus()[index].name));
}

}  // namespace

Session::Session() {
    readers.fetch_add(1, std::memory_order_seq_cst);
    machine_ = current.load(std::memory_order_seq_cst);
}

Session::~Session() {
    readers.fetch_sub(1, std::memory_order_release);
}

void initialize() {
    const std::lock_guard lock{changing};
    if (current.load(std::memory_order_relaxed) != nullptr) return;
    const auto* machine = new (storage) MachinePmus{catalog::DetectionOptions{
        .force = variable("LIBPFM_FORCE_PMU"),
        .disabled = variable("LIBPFM_DISABLED_PMUS"),
        .cpuinfo = variable("LIBPFM_PROC_CPUINFO"),
        .encode_inactive = switched_on("LIBPFM_ENCODE_INACTIVE"),
        .tracepoints = true,
    }};
    report(*machine);
    current.store(machine, std::memory_order_seq_cst);
}

// New calls see no machine from the exchange on, so the number of readers only falls. They are short, so the wait
// yields instead of sleeping.
void terminate() {
    const std::lock_guard lock{changing};
    const MachinePmus* machine = current.exchange(nullptr, std::memory_order_seq_cst);
    if (machine == nullptr) return;
    while (readers.load(std::memory_order_seq_cst) != 0) ::sched_yield();
    machine->~MachinePmus();
}

}  // namespace anyperf::pfm
