// library.cpp: see library.h.
//
// Readers count themselves in, then look at the pointer; terminate() clears the pointer, then waits until nobody is
// counted. Both sides are sequentially consistent, so either the reader sees the cleared pointer or terminate() sees
// the reader. That is two atomic additions a call; a reader-writer lock costs as much as encoding an event.
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

using catalog::Machine;

constinit std::atomic<const Machine*> current{nullptr};
constinit std::atomic<unsigned> readers{0};
constinit std::mutex changing;
alignas(Machine) constinit unsigned char storage[sizeof(Machine)] = {};

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view{} : std::string_view{value};
}

/// A digit other than 0, as libpfm reads its switches.
bool switched_on(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] >= '0' && value[0] <= '9' && std::atoi(value) != 0;
}

void report(const Machine& machine) {
    if (!switched_on("LIBPFM_VERBOSE") && !switched_on("LIBPFM_DEBUG")) return;
    std::FILE* out = std::getenv("LIBPFM_DEBUG_STDOUT") != nullptr ? stdout : stderr;
    for (const std::uint16_t index : machine.actives())
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
    const auto* machine = new (storage) Machine{catalog::MachineOptions{
        .force = variable("LIBPFM_FORCE_PMU"),
        .disabled = variable("LIBPFM_DISABLED_PMUS"),
        .cpuinfo = variable("LIBPFM_PROC_CPUINFO"),
        .encode_inactive = switched_on("LIBPFM_ENCODE_INACTIVE"),
    }};
    report(*machine);
    current.store(machine, std::memory_order_seq_cst);
}

void terminate() {
    const std::lock_guard lock{changing};
    const Machine* machine = current.exchange(nullptr, std::memory_order_seq_cst);
    if (machine == nullptr) return;
    while (readers.load(std::memory_order_seq_cst) != 0) ::sched_yield();
    machine->~Machine();
}

}  // namespace anyperf::pfm
