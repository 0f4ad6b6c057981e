// threads_records.cpp: checks and writes a record that a thread has sent. A program can send any bytes, so the type and
// the size are checked: a reader of the ring finds the next record by header.size. The other fields are the thread's
// own statements.
#include "subsystem/output/threads_records.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>

#include "subsystem/output/output.h"
#include "subsystem/shared/ring.h"

namespace anyperf::subsystem {
namespace {

// PERF_RECORD_ types (abi/records.h).
constexpr std::uint32_t kThrottle = 5;
constexpr std::uint32_t kUnthrottle = 6;
constexpr std::uint32_t kSample = 9;
constexpr std::array kThreadsRecords{kThrottle, kUnthrottle, kSample};

/// The record's type; 0 if the bytes are not a whole record of a kind that threads write.
std::uint32_t type_of(std::span<const std::byte> record) {
    RecordHeader header;
    if (record.size() < sizeof header || record.size() % 8 != 0) return 0;
    std::memcpy(&header, record.data(), sizeof header);
    const bool is_known = std::ranges::find(kThreadsRecords, header.type) != kThreadsRecords.end();
    return is_known && header.size == record.size() ? header.type : 0;
}

}  // namespace

bool write_threads_record(World& world, Event& event, std::span<const std::byte> record) {
    const RingIndex index = event.ring;
    const std::uint32_t type = type_of(record);
    if (index == 0 || type == 0 || event.task == nullptr) return false;
    const TaskId& task = event.task->id;
    const RecordOrigin origin{world.host.shown_id(task.pid), world.host.shown_id(task.tid),
                              world.host.clock(CLOCK_MONOTONIC), static_cast<std::uint32_t>(event.task->cpu)};
    WriteResult written;
    {
        LockedPage page(world, event);
        const std::span<std::byte> memory = world.host.ring_memory(index);
        if (memory.empty()) return false;
        const Ring ring{&world.host.ring_page(index), memory.data(), memory.size() - kRingPageBytes};
        const RingLock held(world, ring.page->lock);
        RingWriter writer{ring, *page, origin};
        if (!held) {
            drop_locked_out(ring, *page);
        } else if (writer.begin(record.size())) {
            writer.sink().put(record.data(), record.size());
            written = writer.commit(type == kSample);
        }
    }
    if (written.wake) wake_readers(world, index);
    return written.written;
}

}  // namespace anyperf::subsystem
