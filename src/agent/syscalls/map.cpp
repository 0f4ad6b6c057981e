// map.cpp: mmap(2) and munmap(2) of an event's ring buffer, and the calls that change such a mapping. A ring is a part
// of the run's memfd, so every process can map it. As with a ring of the kernel, the child of a fork does not have it.
//
// Two areas. In a writable mapping of a kernel's ring the reader may write the header page, for data_tail, and nothing
// else: a store to a record is SIGBUS. Here the mapping is a plain one of the run's memfd. So the agent write-protects
// the records after it has mapped them, and the signal handler turns the SIGSEGV of a store there into a SIGBUS
// (is_protected_record()). For the host's kernel a ring is therefore two areas. mremap(2) moves one area at a time, so
// remap_ring() maps the ring anew instead.
//
// The broker decides whether a mapping is allowed and where in the run memory the ring is, and counts the mappings,
// which keep an event alive. The agent remembers where its process has mapped rings (Process::ring_mappings), because
// munmap(2) and the calls like it name addresses. Every call that unmaps a ring (munmap, or a fixed mmap over it) must
// lead to forget_rings().
#include <errno.h>
#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "agent/broker_request.h"
#include "agent/lifecycle/side_band.h"
#include "agent/syscalls/event_syscalls.h"
#include "engine/freestanding/pages.h"
#include "engine/syscalls/handlers.h"

namespace anyperf::agent {

using engine::is_error;
using engine::kernel_call;
using engine::page_up;

namespace {

/// Makes the records of a mapped ring read-only. The header page stays writable: the reader writes data_tail and the
/// aux fields there.
void protect_records(std::uint64_t start, std::uint64_t bytes) {
    if (bytes > engine::kPageBytes)
        kernel_call(__NR_mprotect, start + engine::kPageBytes, bytes - engine::kPageBytes, PROT_READ);
}

void note_mapping(Process& process, const RingMapping& mapping) {
    const engine::LockGuard held{process.lock};
    if (process.ring_mapping_count < kMaximumRingMappings)
        process.ring_mappings[process.ring_mapping_count++] = mapping;
}

/// The ring mapping that `address` is in; one of 0 bytes if it is in no ring.
RingMapping mapping_at(Process& process, std::uint64_t address) {
    const engine::LockGuard held{process.lock};
    for (std::uint32_t i = 0; i < process.ring_mapping_count; ++i) {
        const RingMapping& mapping = process.ring_mappings[i];
        if (address >= mapping.start && address - mapping.start < mapping.bytes) return mapping;
    }
    return {};
}

/// Maps the ring at the address that MREMAP_FIXED names, and unmaps it where it was. Returns the address or an error.
long move_mapping(const Call& call, Process& process, const RingMapping& mapping) {
    const std::uint64_t to = call.argument[4];
    const auto protection = static_cast<unsigned>(mapping.writable ? PROT_READ | PROT_WRITE : PROT_READ);
    const long got = kernel_call(__NR_mmap, to, mapping.bytes, protection, MAP_SHARED | MAP_FIXED,
                                 static_cast<unsigned>(call.engine.run_fd), mapping.place);
    if (is_error(got)) return got;
    kernel_call(__NR_madvise, to, mapping.bytes, MADV_DONTFORK);
    if (mapping.writable) protect_records(to, mapping.bytes);
    kernel_call(__NR_munmap, mapping.start, mapping.bytes);
    const engine::LockGuard held{process.lock};
    for (std::uint32_t i = 0; i < process.ring_mapping_count; ++i)
        if (process.ring_mappings[i].start == mapping.start) process.ring_mappings[i].start = to;
    return got;
}

}  // namespace

long map_ring(Call& call, EventIndex event) {
    const auto [address, length, protection, flags, fd, offset] = call.argument;
    // The check of file_mmap_ok() of Linux 6.18: no file can be so long.
    if (offset / engine::kPageBytes > (~std::uint64_t{0} - length) / engine::kPageBytes) return -EOVERFLOW;
    if ((flags & MAP_FIXED) != 0 && engine::own_pages.touches(address, page_up(address + length))) return -ENOMEM;
    BrokerRequest ask{call.thread, run::RequestKind::map, event};
    const long place = ask.argument(0, length).argument(1, protection).argument(2, flags).argument(3, offset).send();
    if (place < 0) return place;
    const long got = kernel_call(__NR_mmap, address, length, protection, flags,
                                 static_cast<unsigned>(call.engine.run_fd), static_cast<std::uint64_t>(place));
    if (is_error(got)) {
        BrokerRequest{call.thread, run::RequestKind::unmap, event}
            .argument(0, length)
            .argument(1, static_cast<std::uint64_t>(place))
            .send();
        return got;
    }
    const auto start = static_cast<std::uint64_t>(got);
    if ((flags & MAP_FIXED) != 0) forget_rings(call.thread, start, length);
    kernel_call(__NR_madvise, start, page_up(length), MADV_DONTFORK);
    if ((protection & PROT_WRITE) != 0) protect_records(start, page_up(length));
    note_mapping(*existing_process(call.engine),
                 {start, page_up(length), static_cast<std::uint64_t>(place), event, (protection & PROT_WRITE) != 0});
    report_ring(call.thread, start, page_up(length), protection, flags);
    return got;
}

void forget_inherited_rings(Process& process) {
    for (std::uint32_t i = 0; i < process.ring_mapping_count; ++i) {
        const RingMapping& ring = process.ring_mappings[i];
        kernel_call(__NR_mmap, ring.start, ring.bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, ~std::uint64_t{0}, 0);
    }
    process.ring_mapping_count = 0;
}

bool would_split_ring(Call& call, std::uint64_t start, std::uint64_t bytes, long& answer) {
    Process* const process = existing_process(call.engine);
    if (process == nullptr || bytes == 0) return false;
    const std::uint64_t end = page_up(start + bytes);
    const engine::LockGuard held{process->lock};
    for (std::uint32_t i = 0; i < process->ring_mapping_count; ++i) {
        const RingMapping& ring = process->ring_mappings[i];
        const std::uint64_t ring_end = ring.start + ring.bytes;
        const bool apart = ring.start >= end || ring_end <= start;
        if (apart || (ring.start >= start && ring_end <= end)) continue;
        answer = -EINVAL;
        return true;
    }
    return false;
}

void forget_rings(Thread& thread, std::uint64_t start, std::uint64_t bytes) {
    Process* const process = existing_process(*thread.engine);
    if (process == nullptr) return;
    const std::uint64_t end = page_up(start + bytes);
    for (;;) {
        RingMapping gone;
        {
            const engine::LockGuard held{process->lock};
            std::uint32_t i = 0;
            while (i < process->ring_mapping_count &&
                   (process->ring_mappings[i].start < start || process->ring_mappings[i].start >= end))
                ++i;
            if (i == process->ring_mapping_count) return;
            gone = process->ring_mappings[i];
            process->ring_mappings[i] = process->ring_mappings[--process->ring_mapping_count];
        }
        thread.readable.close();
        BrokerRequest{thread, run::RequestKind::unmap, gone.event}
            .argument(0, gone.bytes)
            .argument(1, gone.place)
            .send();
    }
}

bool is_protected_record(const Thread& thread, std::uint64_t address) {
    const Process* const process = existing_process(*thread.engine);
    if (process == nullptr) return false;
    const std::uint32_t count = __atomic_load_n(&process->ring_mapping_count, __ATOMIC_RELAXED);
    for (std::uint32_t i = 0; i < count && i < kMaximumRingMappings; ++i)
        if (address - process->ring_mappings[i].start < process->ring_mappings[i].bytes)
            return process->ring_mappings[i].writable;
    return false;
}

bool remap_ring(Call& call, long& answer) {
    if (existing_process(call.engine) == nullptr) return false;
    Process& process = *existing_process(call.engine);
    const RingMapping mapping = mapping_at(process, call.argument[0]);
    if (mapping.bytes == 0) return false;
    const std::uint64_t bytes = page_up(call.argument[2]);
    if ((call.argument[3] & MREMAP_DONTUNMAP) != 0) {
        answer = -EINVAL;
        return true;
    }
    // A call that shrinks a longer range to the end of the ring unmaps only what follows the ring: the kernel can do
    // that.
    if (call.argument[0] + bytes == mapping.start + mapping.bytes && bytes < page_up(call.argument[1]) &&
        (call.argument[3] & MREMAP_FIXED) == 0)
        return false;
    if (bytes != mapping.bytes || call.argument[0] != mapping.start || page_up(call.argument[1]) != mapping.bytes) {
        answer = bytes > mapping.bytes ? -EFAULT : -EINVAL;  // a ring can neither grow nor be split
        return true;
    }
    // The ring is two areas for the host's kernel, so a move maps it anew (see the head of this file).
    const bool moves = (call.argument[3] & MREMAP_FIXED) != 0;
    answer = moves ? move_mapping(call, process, mapping) : static_cast<long>(mapping.start);
    return true;
}

bool protect_ring(Call& call, long& answer) {
    if (would_split_ring(call, call.argument[0], call.argument[1], answer)) return true;
    Process* const process = existing_process(call.engine);
    if (process == nullptr || mapping_at(*process, call.argument[0]).bytes == 0) return false;
    const std::uint64_t protection = call.argument[2];
    answer = (protection & PROT_EXEC) != 0 ? -EACCES : engine::handlers::mprotect(call);
    if (is_error(answer)) return true;
    const engine::LockGuard held{process->lock};
    for (std::uint32_t i = 0; i < process->ring_mapping_count; ++i) {
        RingMapping& ring = process->ring_mappings[i];
        if (ring.start - call.argument[0] >= page_up(call.argument[1])) continue;
        ring.writable = (protection & PROT_WRITE) != 0;
        if (ring.writable) protect_records(ring.start, ring.bytes);
    }
    return true;
}

namespace {

/// madvise(2) on a ring, as Linux 6.18 answers it. Advice that is not listed is passed on.
struct AdviceRow {
    std::uint32_t advice;
    int of_whole;  ///< the error for a whole ring; 0: none
    int of_part;   ///< the error for a part of a ring
};
constexpr AdviceRow kAdvice[] = {
    {MADV_RANDOM, 0, EINVAL},
    {MADV_SEQUENTIAL, 0, EINVAL},
    {MADV_DONTNEED, EINVAL, EINVAL},
    {MADV_REMOVE, ENODEV, ENODEV},
    {MADV_DOFORK, EINVAL, EINVAL},
    {MADV_HUGEPAGE, 0, EINVAL},
    {MADV_NOHUGEPAGE, 0, EINVAL},
    {MADV_DODUMP, EINVAL, EINVAL},
    {MADV_COLD, EINVAL, EINVAL},
    {MADV_PAGEOUT, EINVAL, EINVAL},
    {MADV_POPULATE_READ, EINVAL, EINVAL},
    {MADV_POPULATE_WRITE, EINVAL, EINVAL},
    {MADV_DONTNEED_LOCKED, EINVAL, EINVAL},
};

}  // namespace

bool advise_ring(Call& call, long& answer) {
    Process* const process = existing_process(call.engine);
    if (process == nullptr || mapping_at(*process, call.argument[0]).bytes == 0) return false;
    const auto advice = static_cast<std::uint32_t>(call.argument[2]);
    const auto* const row = std::ranges::find(kAdvice, advice, &AdviceRow::advice);
    if (row == std::end(kAdvice)) return false;
    long ignored = 0;
    const bool part = would_split_ring(call, call.argument[0], call.argument[1], ignored);
    answer = -(part ? row->of_part : row->of_whole);
    return true;
}

bool refuse_on_ring(Call& call, long& answer) {
    const bool applies = call.number != __NR_msync || (call.argument[2] & MS_SYNC) != 0;
    Process* const process = existing_process(call.engine);
    if (!applies || process == nullptr || mapping_at(*process, call.argument[0]).bytes == 0) return false;
    answer = -EINVAL;
    return true;
}

}  // namespace anyperf::agent
