// map.cpp: mmap(2) and munmap(2) of an event's ring buffer. Its memory is a part of the run's memfd, so every process
// can map it; a fork's child does not have it, as it does not have the kernel's.
#include <errno.h>
#include <sys/mman.h>

#include "engine/attached.h"
#include "engine/freestanding/pages.h"
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
    if ((call.argument[2] & PROT_EXEC) == 0 || known_process(call.engine) == nullptr ||
        mapping_at(*known_process(call.engine), call.argument[0]).bytes == 0)
        return false;
    answer = -EACCES;
    return true;
}

}  // namespace anyperf::resident

namespace anyperf::engine::attached {

bool faulted_on_ring(const Thread& thread, std::uint64_t address) {
    const resident::Process* const process = resident::known_process(*thread.engine);
    return process != nullptr && resident::refuses_stores(*process, address);
}

}  // namespace anyperf::engine::attached
