// map.cpp: mmap(2) and munmap(2) of an event's ring buffer. Its memory is a part of the run's memfd, so every process
// can map it; a fork's child does not have it, as it does not have the kernel's.
#include <errno.h>
#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "engine/attached.h"
#include "engine/freestanding/pages.h"
#include "engine/syscalls/handlers.h"
#include "resident/calls.h"
#include "resident/request.h"
#include "resident/side_band.h"

namespace anyperf::resident {

using engine::is_error;
using engine::kernel_call;
using engine::page_up;

namespace {

/// The reader writes data_tail and the aux fields of the header; records are the writer's.
void protect_records(std::uint64_t start, std::uint64_t bytes) {
    if (bytes > engine::kPageBytes)
        kernel_call(__NR_mprotect, start + engine::kPageBytes, bytes - engine::kPageBytes, PROT_READ);
}

void note_mapping(Process& process, const Mapping& mapping) {
    const engine::Held held{process.lock};
    if (process.mapping_count < kMappings) process.mappings[process.mapping_count++] = mapping;
}

/// The ring that has `address`; bytes 0: there is none.
Mapping mapping_at(Process& process, std::uint64_t address) {
    const engine::Held held{process.lock};
    for (std::uint32_t i = 0; i < process.mapping_count; ++i) {
        const Mapping& mapping = process.mappings[i];
        if (address >= mapping.start && address - mapping.start < mapping.bytes) return mapping;
    }
    return {};
}

/// To the address that MREMAP_FIXED names.
long move_mapping(const Call& call, Process& process, const Mapping& mapping) {
    const RingPage& ring = process.rings[process.events[mapping.event].ring];
    const std::uint64_t to = call.argument[4];
    const long got = kernel_call(__NR_mmap, to, mapping.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                                 static_cast<unsigned>(call.engine.run_fd), ring.offset);
    if (is_error(got)) return got;
    kernel_call(__NR_madvise, to, mapping.bytes, MADV_DONTFORK);
    protect_records(to, mapping.bytes);
    kernel_call(__NR_munmap, mapping.start, mapping.bytes);
    const engine::Held held{process.lock};
    for (std::uint32_t i = 0; i < process.mapping_count; ++i)
        if (process.mappings[i].start == mapping.start) process.mappings[i].start = to;
    return got;
}

}  // namespace

long map_event(Call& call, EventIndex event) {
    const auto [address, length, protection, flags, fd, offset] = call.argument;
    // file_mmap_ok() of Linux 6.18: beyond the end of any file.
    if (offset / engine::kPageBytes > (~std::uint64_t{0} - length) / engine::kPageBytes) return -EOVERFLOW;
    if ((flags & MAP_FIXED) != 0 && engine::own_pages.touches(address, page_up(address + length))) return -ENOMEM;
    Ask ask{call.thread, RequestKind::map, event};
    const long place = ask.with(0, length).with(1, protection).with(2, flags).with(3, offset).send();
    if (place < 0) return place;
    const long got = kernel_call(__NR_mmap, address, length, protection, flags,
                                 static_cast<unsigned>(call.engine.run_fd), static_cast<std::uint64_t>(place));
    if (is_error(got)) {
        Ask{call.thread, RequestKind::unmap, event}.with(0, length).send();
        return got;
    }
    const auto start = static_cast<std::uint64_t>(got);
    if ((flags & MAP_FIXED) != 0) forget_rings(call.thread, start, length);
    kernel_call(__NR_madvise, start, page_up(length), MADV_DONTFORK);
    if ((protection & PROT_WRITE) != 0) protect_records(start, page_up(length));
    note_mapping(*known_process(call.engine), {start, page_up(length), event, (protection & PROT_WRITE) != 0});
    tell_ring(call.thread, start, page_up(length), protection, flags);
    return got;
}

bool splits_ring(Call& call, std::uint64_t start, std::uint64_t bytes, long& answer) {
    Process* const process = known_process(call.engine);
    if (process == nullptr || bytes == 0) return false;
    const std::uint64_t end = page_up(start + bytes);
    const engine::Held held{process->lock};
    for (std::uint32_t i = 0; i < process->mapping_count; ++i) {
        const Mapping& ring = process->mappings[i];
        const std::uint64_t ring_end = ring.start + ring.bytes;
        const bool apart = ring.start >= end || ring_end <= start;
        if (apart || (ring.start >= start && ring_end <= end)) continue;
        answer = -EINVAL;
        return true;
    }
    return false;
}

void forget_rings(Thread& thread, std::uint64_t start, std::uint64_t bytes) {
    Process* const process = known_process(*thread.engine);
    if (process == nullptr) return;
    const std::uint64_t end = page_up(start + bytes);
    for (;;) {
        Mapping gone;
        {
            const engine::Held held{process->lock};
            std::uint32_t i = 0;
            while (i < process->mapping_count &&
                   (process->mappings[i].start < start || process->mappings[i].start >= end))
                ++i;
            if (i == process->mapping_count) return;
            gone = process->mappings[i];
            process->mappings[i] = process->mappings[--process->mapping_count];
        }
        Ask{thread, RequestKind::unmap, gone.event}.with(0, gone.bytes).send();
    }
}

/// Where a store is refused although the mapping was asked for to be written: the kernel says SIGBUS there.
bool refuses_stores(const Process& process, std::uint64_t address) {
    const std::uint32_t count = __atomic_load_n(&process.mapping_count, __ATOMIC_RELAXED);
    for (std::uint32_t i = 0; i < count && i < kMappings; ++i)
        if (address - process.mappings[i].start < process.mappings[i].bytes) return process.mappings[i].writable;
    return false;
}

bool remap_event(Call& call, long& answer) {
    if (known_process(call.engine) == nullptr) return false;
    Process& process = *known_process(call.engine);
    const Mapping mapping = mapping_at(process, call.argument[0]);
    if (mapping.bytes == 0) return false;
    const std::uint64_t bytes = page_up(call.argument[2]);
    if ((call.argument[3] & MREMAP_DONTUNMAP) != 0) {
        answer = -EINVAL;
        return true;
    }
    // What lies behind the ring alone is given up: no matter of ours.
    if (call.argument[0] + bytes == mapping.start + mapping.bytes && bytes < page_up(call.argument[1]) &&
        (call.argument[3] & MREMAP_FIXED) == 0)
        return false;
    if (bytes != mapping.bytes || call.argument[0] != mapping.start || page_up(call.argument[1]) != mapping.bytes) {
        answer = bytes > mapping.bytes ? -EFAULT : -EINVAL;  // can neither grow nor be split
        return true;
    }
    // The header and the records are two areas to the kernel here, which moves one at a time: mapped anew instead.
    const bool moves = (call.argument[3] & MREMAP_FIXED) != 0;
    answer = moves ? move_mapping(call, process, mapping) : static_cast<long>(mapping.start);
    return true;
}

bool protect_event(Call& call, long& answer) {
    if (splits_ring(call, call.argument[0], call.argument[1], answer)) return true;
    Process* const process = known_process(call.engine);
    if (process == nullptr || mapping_at(*process, call.argument[0]).bytes == 0) return false;
    const std::uint64_t protection = call.argument[2];
    answer = (protection & PROT_EXEC) != 0 ? -EACCES : engine::handlers::mprotect(call);
    if (is_error(answer)) return true;
    const engine::Held held{process->lock};
    for (std::uint32_t i = 0; i < process->mapping_count; ++i) {
        Mapping& ring = process->mappings[i];
        if (ring.start - call.argument[0] >= page_up(call.argument[1])) continue;
        ring.writable = (protection & PROT_WRITE) != 0;
        if (ring.writable) protect_records(ring.start, ring.bytes);
    }
    return true;
}

namespace {

/// madvise(2) on a ring: what Linux 6.18 refuses; it does what is not here.
struct AdviceRow {
    std::uint32_t advice;
    int of_whole;  ///< the error, 0: none
    int of_part;
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

bool advise_event(Call& call, long& answer) {
    Process* const process = known_process(call.engine);
    if (process == nullptr || mapping_at(*process, call.argument[0]).bytes == 0) return false;
    const auto advice = static_cast<std::uint32_t>(call.argument[2]);
    const auto* const row = std::ranges::find(kAdvice, advice, &AdviceRow::advice);
    if (row == std::end(kAdvice)) return false;
    long ignored = 0;
    const bool part = splits_ring(call, call.argument[0], call.argument[1], ignored);
    answer = -(part ? row->of_part : row->of_whole);
    return true;
}

bool refuse_on_ring(Call& call, long& answer) {
    const bool applies = call.number != __NR_msync || (call.argument[2] & MS_SYNC) != 0;
    Process* const process = known_process(call.engine);
    if (!applies || process == nullptr || mapping_at(*process, call.argument[0]).bytes == 0) return false;
    answer = -EINVAL;
    return true;
}

}  // namespace anyperf::resident

namespace anyperf::engine::attached {

bool faulted_on_ring(const Thread& thread, std::uint64_t address) {
    const resident::Process* const process = resident::known_process(*thread.engine);
    return process != nullptr && resident::refuses_stores(*process, address);
}

}  // namespace anyperf::engine::attached
