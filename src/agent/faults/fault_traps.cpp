#include "agent/faults/fault_traps.h"

#include <sys/mman.h>

#include <algorithm>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"
#include "agent/agent_state.h"
#include "agent/sampling/active_events.h"
#include "agent/sampling/sampling.h"
#include "anyperf/attr.h"
#include "engine/freestanding/pages.h"
#include "engine/threads/thread_memory.h"

namespace anyperf::agent {

using engine::address_of;
using engine::is_error;
using engine::kernel_call;
using engine::Thread;

namespace {

constexpr std::uint64_t kCloseOnExec = 8;          // PERF_FLAG_FD_CLOEXEC
constexpr std::uint64_t kPageFaults = 2;           // PERF_COUNT_SW_PAGE_FAULTS
constexpr std::uint64_t kThisThread = 0;           // pid
constexpr std::uint64_t kAny = ~std::uint64_t{0};  // cpu, group_fd
constexpr std::int64_t kLongestStretch = 8192;     ///< instructions: they take longer than the read that ends them
constexpr std::int64_t kGrowth = 8;                ///< a stretch is about a ninth of what has run since the last fault

/// Opens the kernel's event on the calling thread. Returns a descriptor, or a negated errno. The event excludes the
/// kernel, so it needs no privilege up to perf_event_paranoid 2. The kernel demands remove_on_exec with sigtrap.
long open_kernel_event() {
    abi::Attr attr;
    attr.type = abi::kTypeSoftware;
    attr.size = sizeof attr;
    attr.config = kPageFaults;
    attr.sample_period = 1;
    attr.sample_type = abi::sample("PERF_SAMPLE_ADDR");
    attr.flags =
        abi::flag("exclude_kernel") | abi::flag("exclude_hv") | abi::flag("sigtrap") | abi::flag("remove_on_exec");
    attr.sig_data = run::kFaultTrapData;
    return kernel_call(__NR_perf_event_open, address_of(&attr), kThisThread, kAny, kAny, kCloseOnExec);
}

/// The mapping that keeps the kernel's event; null if the kernel refuses it.
void* map_kernel_event() {
    const long fd = open_kernel_event();
    if (is_error(fd)) return nullptr;
    const long got = engine::map_own_pages(engine::kPageBytes, PROT_READ, MAP_SHARED, static_cast<int>(fd));
    kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
    return is_error(got) ? nullptr : engine::at_address<void>(static_cast<std::uint64_t>(got));
}

/// Touches each page of the signal stack, so that the kernel does not fault there when it delivers the first signal.
void touch_signal_stack(const Thread& thread) {
    for (std::uint64_t at = 0; at < engine::x86_64::kSignalStackBytes; at += engine::kPageBytes)
        *engine::at_address<volatile char>(thread.signal_stack + at) = 0;
}

}  // namespace

void set_fault_traps(Thread& thread, bool wanted) {
    thread.agent->fault_stretch = 0;
    if (wanted && thread.agent->fault_traps == nullptr) {
        touch_signal_stack(thread);
        thread.agent->fault_traps = map_kernel_event();
    }
    if (wanted || thread.agent->fault_traps == nullptr) return;
    engine::release_pages(thread.agent->fault_traps, engine::kPageBytes);
    thread.agent->fault_traps = nullptr;
}

void handle_fault_overflows(Thread& thread) {
    for_each_sampling_event(thread, [&](EventPage& event, EventIndex index) {
        if (counts_faults(event.source)) handle_overflows(thread, event, index);
    });
}

void report_page_fault(Thread& thread) {
    handle_fault_overflows(thread);
    thread.page_faulted = false;
}

std::int64_t next_fault_stretch(Thread& thread) {
    const std::uint64_t faults = thread.page.faults[0] + thread.page.faults[1];
    const bool faulted = faults != thread.agent->faults_looked_at;
    thread.agent->faults_looked_at = faults;
    const std::int64_t last = faulted ? 0 : thread.agent->fault_stretch;
    thread.agent->fault_stretch = std::min(last + last / kGrowth + 1, kLongestStretch);
    return thread.agent->fault_stretch;
}

}  // namespace anyperf::agent
