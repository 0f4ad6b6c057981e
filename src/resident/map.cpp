// map.cpp: mmap(2) and munmap(2) of an event's ring buffer. Its memory is a part of the run's memfd, so every process
// can map it; a fork's child does not have it, as it does not have the kernel's.
#include <errno.h>
#include <sys/mman.h>

#include "engine/freestanding/pages.h"
#include "resident/calls.h"
#include "resident/request.h"

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

}  // namespace

long map_event(Call& call, EventIndex event) {
    const auto [address, length, protection, flags, fd, offset] = call.argument;
    if ((flags & MAP_FIXED) != 0 && call.engine.owns(address, page_up(address + length))) return -ENOMEM;
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
    kernel_call(__NR_madvise, start, page_up(length), MADV_DONTFORK);
    if ((protection & PROT_WRITE) != 0) protect_records(start, page_up(length));
    note_mapping(*known_process(call.engine), {start, page_up(length), event});
    return got;
}

bool unmap_events(Call& call, std::uint64_t start, std::uint64_t bytes, long& answer) {
    Process* const process = known_process(call.engine);
    if (process == nullptr || process->mapping_count == 0 || bytes == 0) return false;
    const std::uint64_t end = page_up(start + bytes);
    for (;;) {
        Mapping found;
        {
            const engine::Held held{process->lock};
            std::uint32_t i = 0;
            while (i < process->mapping_count && (process->mappings[i].start >= end ||
                                                  process->mappings[i].start + process->mappings[i].bytes <= start))
                ++i;
            if (i == process->mapping_count) return false;
            found = process->mappings[i];
            if (found.start < start || found.start + found.bytes > end) {
                answer = -EINVAL;  // part of a ring can't be unmapped (perf_mmap_may_split)
                return true;
            }
            process->mappings[i] = process->mappings[--process->mapping_count];
        }
        Ask{call.thread, RequestKind::unmap, found.event}.with(0, found.bytes).send();
    }
}

}  // namespace anyperf::resident
