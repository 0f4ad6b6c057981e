// run_host.cpp: see run_host.h.
#include "broker/run_host.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <utility>

#include "resident/live_value.h"
#include "resident/lock_holder.h"
#include "subsystem/shared/overflow.h"

namespace anyperf::broker {

namespace {

constexpr std::uint64_t kPageBytes = 4096;

}  // namespace

RunHost::RunHost(RunMemory& memory, subsystem::Limits limits, MachineFiles& files)
    : memory_(memory), limits_(limits), files_(files), rings_end_(resident::kRingsOffset) {}

RunHost::~RunHost() {
    for (const auto& [ring, bytes] : ring_memory_) ::munmap(bytes.data(), bytes.size());
}

void RunHost::called_by(const TaskName& caller, std::uint64_t task_clock, std::int32_t cpu) {
    caller_ = caller;
    TaskMemory& task = memory_of(caller);
    task.clock = std::max(task.clock, task_clock);
    if (task.cpu >= 0 && cpu != task.cpu) ++task.moves;
    task.cpu = cpu;
}

subsystem::Limits RunHost::limits() {
    subsystem::Limits limits = limits_;
    files_.read_limits(limits);
    // kernel/events/core.c, max_samples_per_tick: rounded up.
    constexpr std::uint64_t kTicks = 1'000'000'000 / subsystem::kTickNs;
    const auto each = static_cast<std::uint32_t>((limits.max_sample_rate + kTicks - 1) / kTicks);
    __atomic_store_n(&memory_.header().samples_per_tick, each, __ATOMIC_RELAXED);
    return limits;
}

std::vector<EventIndex> RunHost::take_changed() {
    return std::exchange(changed_, {});
}

RunHost::TaskMemory& RunHost::memory_of(const TaskName& task) {
    TaskMemory& memory = tasks_[task.thread_page];
    if (memory.tid != task.tid) memory = {.tid = task.tid};
    return memory;
}

void RunHost::forget(std::uint32_t thread_page) {
    tasks_.erase(thread_page);
}

std::uint64_t RunHost::clock(std::int32_t clockid) {
    timespec now{};
    if (::clock_gettime(clockid, &now) != 0) ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

std::int32_t RunHost::lock_holder() {
    return ::getpid();
}

bool RunHost::abandoned(std::int32_t holder) {
    return resident::yield_and_look_whether_gone(holder);
}

void RunHost::arm(const TaskName& task, const subsystem::Armed& armed) {
    if (task.thread_page >= engine::kMaximumThreadPages) return;
    engine::ThreadPage& page = memory_.thread_page(task.thread_page);
    __atomic_store_n(&page.counted, armed.counters, __ATOMIC_RELEASE);
    __atomic_store_n(&page.counts_faults, armed.faults ? 1 : 0, __ATOMIC_RELEASE);
    __atomic_store_n(&page.first_armed, armed.first, __ATOMIC_RELEASE);
}

void RunHost::attend(const TaskName& task) {
    if (task.thread_page >= engine::kMaximumThreadPages) return;
    engine::ThreadPage& page = memory_.thread_page(task.thread_page);
    __atomic_store_n(&page.attention, 1, __ATOMIC_SEQ_CST);
    if (is_caller(task) || __atomic_load_n(&page.in_kernel, __ATOMIC_SEQ_CST) != 0) return;
    siginfo_t info{};
    info.si_signo = SIGTRAP;
    info.si_code = engine::kAttentionCode;
    ::syscall(SYS_rt_tgsigqueueinfo, task.pid, task.tid, SIGTRAP, &info);
}

EventIndex RunHost::new_event_page() {
    EventIndex index = 0;
    if (!free_events_.empty()) {
        index = free_events_.back();
        free_events_.pop_back();
    } else if (next_event_ < resident::kMaximumEvents) {
        index = next_event_++;
    }
    if (index != 0) memory_.event(index) = EventPage{};
    return index;
}

void RunHost::free_event_page(EventIndex event) {
    free_events_.push_back(event);
}

FilterIndex RunHost::new_filter(const subsystem::Filter& filter) {
    if (filter_users_.empty()) filter_users_.resize(resident::kMaximumFilters);
    FilterIndex free = 0;
    for (FilterIndex index = 1; index < resident::kMaximumFilters; ++index) {
        if (filter_users_[index] == 0) {
            if (free == 0) free = index;
        } else if (memory_.filter(index) == filter) {
            ++filter_users_[index];
            return index;
        }
    }
    if (free == 0) return 0;
    memory_.filter(free) = filter;
    filter_users_[free] = 1;
    return free;
}

void RunHost::free_filter(FilterIndex filter) {
    if (filter < filter_users_.size() && filter_users_[filter] != 0) --filter_users_[filter];
}

RingIndex RunHost::new_ring(std::uint32_t data_pages) {
    const std::uint64_t bytes = (std::uint64_t{1} + data_pages) * kPageBytes;
    if (free_rings_.empty() && next_ring_ == resident::kMaximumRings) return 0;
    std::uint64_t offset = rings_end_;
    const auto known = free_ring_memory_.find(bytes);
    if (known != free_ring_memory_.end()) {
        offset = known->second;
        free_ring_memory_.erase(known);
    } else if (bytes > memory_.file_bytes() - rings_end_) {
        return 0;
    } else {
        rings_end_ += bytes;
    }
    void* const place =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.fd(), static_cast<off_t>(offset));
    if (place == MAP_FAILED) {
        free_ring_memory_.emplace(bytes, offset);
        return 0;
    }
    RingIndex ring = 0;
    if (free_rings_.empty()) {
        ring = next_ring_++;
    } else {
        ring = free_rings_.back();
        free_rings_.pop_back();
    }
    memory_.ring(ring) = RingPage{};
    memory_.ring(ring).offset = offset;
    memory_.ring(ring).pages = data_pages;
    ring_memory_[ring] = {static_cast<std::byte*>(place), bytes};
    return ring;
}

std::span<std::byte> RunHost::ring_memory(RingIndex ring) {
    const auto known = ring_memory_.find(ring);
    return known != ring_memory_.end() ? known->second : std::span<std::byte>{};
}

void RunHost::free_ring(RingIndex ring) {
    const auto known = ring_memory_.find(ring);
    if (known == ring_memory_.end()) return;
    const std::uint64_t offset = memory_.ring(ring).offset;
    const std::uint64_t bytes = known->second.size();
    ::munmap(known->second.data(), bytes);
    // The pages go, and are zeros for whoever has them next; who still maps them sees zeros, too.
    ::fallocate(memory_.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(bytes));
    memory_.ring(ring) = RingPage{};
    ring_memory_.erase(known);
    free_ring_memory_.emplace(bytes, offset);
    free_rings_.push_back(ring);
}

}  // namespace anyperf::broker
