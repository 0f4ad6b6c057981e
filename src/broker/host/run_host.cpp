// run_host.cpp: RunHost's clocks, requests to threads, and shared memory: event pages, filters, rings. What it knows of
// tasks is in run_host_tasks.cpp.
//
// Programs can change everything in the run memory. So what decides about memory or other processes is kept here and
// not read back: where a ring is (ring_places_), and which event pages, rings and filters are free.
#include "broker/host/run_host.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <utility>

#include "run/live_value.h"
#include "run/run_clock.h"
#include "subsystem/shared/overflow.h"

namespace anyperf::broker {

namespace {

constexpr std::uint64_t kPageBytes = 4096;

}  // namespace

RunHost::RunHost(RunMemory& memory, RunThreads& threads, subsystem::Limits limits, MachineFiles& files)
    : memory_(memory), threads_(threads), limits_(limits), machine_files_(files), rings_end_(run::kRingsOffset) {}

RunHost::~RunHost() {
    for (const auto& [ring, place] : ring_places_) ::munmap(place.memory.data(), place.memory.size());
}

void RunHost::begin_request(const TaskId& caller, const CallerState& state) {
    caller_ = caller;
    TaskCache& task = cached(caller);
    task.clock = std::max(task.clock, state.task_clock);
    task.switches = std::max(task.switches, state.switches);
    // Without /proc/PID/sched migrations are counted here, by the CPUs that requests come from.
    const bool moved = task.cpu >= 0 && state.cpu != task.cpu;
    task.cpu = state.cpu;
    if (!moved) return;
    ++task.migrations;
    cpu_migrations(caller);
}

subsystem::Limits RunHost::limits() {
    subsystem::Limits limits = limits_;
    machine_files_.read_limits(limits);
    limits.rdpmc = memory_.header().rdpmc != run::kRdpmcNever;
    // As max_samples_per_tick in kernel/events/core.c, rounded up. Threads read it from the run's header.
    constexpr std::uint64_t kTicks = 1'000'000'000 / subsystem::kTickNs;
    const auto each = static_cast<std::uint32_t>((limits.max_sample_rate + kTicks - 1) / kTicks);
    __atomic_store_n(&memory_.header().samples_per_tick, each, __ATOMIC_RELAXED);
    return limits;
}

std::vector<EventIndex> RunHost::take_poll_changes() {
    return std::exchange(poll_changes_, {});
}

RunHost::TaskCache& RunHost::cached(const TaskId& task) {
    TaskCache& memory = tasks_[task.thread_page];
    if (memory.tid != task.tid) memory = {.tid = task.tid};
    return memory;
}

void RunHost::forget_thread(std::uint32_t thread_page) {
    tasks_.erase(thread_page);
}

std::uint64_t RunHost::clock(std::int32_t clockid) {
    std::uint64_t ns = 0;
    if (has_run_clock() && run::clock_of_machine(clockid, run_clock(), memory_.header().epoch_ns, ns)) return ns;
    timespec now{};
    if (::clock_gettime(clockid, &now) != 0) ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

void RunHost::call_ended() {
    ++moment_;
    patience_ = {};
    is_out_of_patience_ = false;
}

bool RunHost::is_abandoned(std::int32_t holder) {
    // The holder is a thread id in shared memory, in the thread's own pid namespace. If no thread of the run has this
    // id, a program made it up. The kernel says whether the thread lives. If a living one keeps its lock for too long,
    // the broker's patience is over, so that a program cannot stop the broker.
    const KernelIds thread = threads_.called(holder);
    if (!thread || run::yield_and_check_gone(thread.tid)) return true;
    is_out_of_patience_ = is_out_of_patience_ || patience_.is_over();
    return is_out_of_patience_;
}

void RunHost::set_active_events(const TaskId& task, const subsystem::ActiveEvents& events) {
    if (task.thread_page >= run::kMaximumThreadPages) return;
    run::ThreadPage& page = memory_.thread_page(task.thread_page);
    __atomic_store_n(&page.counted, events.counters, __ATOMIC_RELEASE);
    __atomic_store_n(&page.counts_faults, events.faults ? 1 : 0, __ATOMIC_RELEASE);
    __atomic_store_n(&page.first_active_event, events.first, __ATOMIC_RELEASE);
}

/// Requests a safepoint of the thread. A thread that reaches a safepoint without it gets no signal: the caller, which
/// waits for its answer, and a thread in a system call.
void RunHost::request_safepoint(const TaskId& task) {
    if (task.thread_page >= run::kMaximumThreadPages) return;
    run::ThreadPage& page = memory_.thread_page(task.thread_page);
    // Sets `safepoint_requested`, then reads `in_kernel`. The thread clears `in_kernel`, then reads
    // `safepoint_requested` (InKernel in engine/syscalls/table.cpp). So at least one side sees the other's store.
    __atomic_store_n(&page.safepoint_requested, 1, __ATOMIC_SEQ_CST);
    if (is_caller(task) || __atomic_load_n(&page.in_kernel, __ATOMIC_SEQ_CST) != 0) return;
    // The signal makes the thread leave translated code. A program without the engine would be killed by it. So the
    // process must still run the engine: it may have executed another program meanwhile.
    const KernelIds to = kernel_ids(task);
    if (!to || !threads_.runs_engine(to.pid)) return;
    siginfo_t info{};
    info.si_signo = SIGTRAP;
    info.si_code = run::kSafepointSignalCode;
    ::syscall(SYS_rt_tgsigqueueinfo, to.pid, to.tid, SIGTRAP, &info);
}

EventIndex RunHost::new_event_page(const TaskId* counted) {
    EventIndex index = 0;
    if (!free_events_.empty()) {
        index = free_events_.back();
        free_events_.pop_back();
    } else if (next_event_ < run::kMaximumEvents) {
        index = next_event_++;
    }
    // The thread that it counts writes the page, so it is in the memory of that thread's user.
    if (index != 0) memory_.place_event(index, counted != nullptr ? memory_.user_of_page(counted->thread_page) : 0);
    return index;
}

void RunHost::free_event_page(EventIndex event) {
    free_events_.push_back(event);
}

FilterIndex RunHost::new_filter(const subsystem::Filter& filter) {
    // Events with equal filters share one.
    if (filters_.empty()) filters_.resize(run::kMaximumFilters);
    FilterIndex free = 0;
    for (FilterIndex index = 1; index < run::kMaximumFilters; ++index) {
        if (filters_[index].users == 0) {
            if (free == 0) free = index;
        } else if (*filters_[index].filter == filter) {
            ++filters_[index].users;
            return index;
        }
    }
    if (free == 0) return 0;
    filters_[free] = {1, std::make_unique<subsystem::Filter>(filter)};
    memory_.filter(free) = filter;
    return free;
}

void RunHost::free_filter(FilterIndex filter) {
    if (filter >= filters_.size() || filters_[filter].users == 0) return;
    if (--filters_[filter].users == 0) filters_[filter].filter.reset();
}

/// Freed rings are kept by their size and used again for the same size only: programs mostly ask for the same few
/// sizes.
RingIndex RunHost::new_ring(std::uint32_t data_pages) {
    const std::uint64_t bytes = (std::uint64_t{1} + data_pages) * kPageBytes;
    if (free_rings_.empty() && next_ring_ == run::kMaximumRings) return 0;
    // Memory of a freed ring of the same size, or new memory at the end of the file.
    const UserNumber user = memory_.user_of_page(caller_.thread_page);
    std::uint64_t offset = rings_end_;
    const auto known = free_ring_memory_.find({user, bytes});
    if (known != free_ring_memory_.end()) {
        offset = known->second;
        free_ring_memory_.erase(known);
    } else if (bytes > memory_.file_bytes() - rings_end_) {
        return 0;
    } else {
        rings_end_ += bytes;
    }
    void* const place =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.fd(user), static_cast<off_t>(offset));
    if (place == MAP_FAILED) {
        free_ring_memory_.emplace(std::pair{user, bytes}, offset);
        return 0;
    }
    RingIndex ring = 0;
    if (free_rings_.empty()) {
        ring = next_ring_++;
    } else {
        ring = free_rings_.back();
        free_rings_.pop_back();
    }
    RingPage& page = memory_.ring(ring, user);
    page = RingPage{};
    page.offset = offset;
    page.pages = data_pages;
    ring_places_[ring] = {{static_cast<std::byte*>(place), bytes}, offset, user, false};
    return ring;
}

RingPage& RunHost::ring_page(RingIndex ring) {
    const auto known = ring_places_.find(ring);
    return memory_.ring(ring, known != ring_places_.end() ? known->second.user : 0);
}

void RunHost::retire_ring(RingIndex ring) {
    if (const auto known = ring_places_.find(ring); known != ring_places_.end()) known->second.retired = true;
}

std::span<std::byte> RunHost::ring_memory(RingIndex ring) {
    const auto known = ring_places_.find(ring);
    return known != ring_places_.end() ? known->second.memory : std::span<std::byte>{};
}

std::uint64_t RunHost::ring_offset(RingIndex ring) {
    const auto known = ring_places_.find(ring);
    return known != ring_places_.end() ? known->second.offset : 0;
}

void RunHost::free_ring(RingIndex ring) {
    const auto known = ring_places_.find(ring);
    if (known == ring_places_.end()) return;
    const RingPlace place = known->second;
    const std::uint64_t bytes = place.memory.size();
    ::munmap(place.memory.data(), bytes);

    // Frees the file's pages. The next ring there begins with zeros, and a program that still maps this one reads
    // zeros.
    ::fallocate(memory_.fd(place.user), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(place.offset),
                static_cast<off_t>(bytes));
    memory_.ring(ring, place.user) = RingPage{};
    ring_places_.erase(known);
    if (!place.retired) free_ring_memory_.emplace(std::pair{place.user, bytes}, place.offset);
    free_rings_.push_back(ring);
}

}  // namespace anyperf::broker
