// foreign_records.cpp: a private ring per overflow, mapped only when the event's ring is foreign. Runs with programs of
// several users are rare, and the request costs more than the mapping.
#include "agent/sampling/foreign_records.h"

#include <algorithm>

#include "agent/broker_request.h"
#include "engine/freestanding/pages.h"

extern "C" void* memcpy(void* to, const void* from, std::size_t count);

namespace anyperf::agent {

namespace {

constexpr std::uint32_t kPages = 64;  // of data: several of the longest records (kLongestRecord)
constexpr std::uint64_t kBytes = (1 + std::uint64_t{kPages}) * engine::kPageBytes;

}  // namespace

bool is_foreign_ring(const Thread& thread, RingIndex ring) {
    const Process& process = *existing_process(*thread.engine);
    return ring != 0 && process.rings.contains(ring) && process.rings[ring].offset == 0;
}

ForeignRecords::~ForeignRecords() {
    if (memory_ != nullptr) engine::release_pages(memory_, kBytes);
}

subsystem::Ring ForeignRecords::ring() {
    if (memory_ == nullptr) {
        memory_ = static_cast<std::byte*>(engine::reserve_pages(kBytes));
        if (memory_ == nullptr) return {};
        page_.pages = kPages;
        page_.watermark = kBytes;  // the broker decides about wake-ups
    }
    return {&page_, memory_, kBytes - engine::kPageBytes};
}

void ForeignRecords::send(Thread& thread, EventIndex event) {
    if (memory_ == nullptr) return;
    const std::byte* const data = memory_ + engine::kPageBytes;
    for (std::uint64_t at = 0; at < page_.head;) {
        subsystem::RecordHeader header;
        memcpy(&header, data + at, sizeof header);
        BrokerRequest{thread, run::RequestKind::write_record, event}.payload(data + at, header.size).send();
        at += std::max<std::uint64_t>(header.size, sizeof header);
    }
}

}  // namespace anyperf::agent
