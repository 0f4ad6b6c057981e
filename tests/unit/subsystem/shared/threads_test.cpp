// threads_test.cpp: several threads write to one ring while another reads it. Made for the thread sanitizer.
#include <gtest/gtest.h>

#include <stop_token>
#include <thread>

#include "subsystem/shared/page_lock.h"
#include "unit/subsystem/shared/test_ring.h"

namespace anyperf::subsystem {
namespace {

using testing::TestRing;

/// Writes records of two words, both of them the writer's id times a million plus the number of the record.
void write_all(const std::stop_token& stop, TestRing& ring, std::int32_t me, std::uint64_t records) {
    EventPage event;
    for (std::uint64_t i = 0; i < records; ++i) {
        const std::uint64_t what = static_cast<std::uint64_t>(me) * 1'000'000 + i;
        const std::uint64_t body[] = {what, what};
        for (bool written = false; !written && !stop.stop_requested(); std::this_thread::yield()) {
            const ScopedPageLock held{ring.page().lock, me, [](std::int32_t) {
                                          std::this_thread::yield();
                                          return false;
                                      }};
            written =
                write_record(ring.ring(), event, ring.moment, {.type = 3}, std::as_bytes(std::span{body})).written;
        }
    }
}

TEST(RingOfSeveralWriters, HasWholeRecordsInTheOrderOfEachWriter) {
    constexpr std::uint64_t kRecords = 2000;
    TestRing ring;
    std::jthread one{[&](const std::stop_token& stop) { write_all(stop, ring, 1, kRecords); }};
    std::jthread two{[&](const std::stop_token& stop) { write_all(stop, ring, 2, kRecords); }};
    std::uint64_t next[] = {0, 0};
    std::uint64_t tail = 0;
    while (next[0] + next[1] < 2 * kRecords) {
        const std::uint64_t head = __atomic_load_n(&ring.header().data_head, __ATOMIC_ACQUIRE);
        for (; tail != head; tail += ring.at(tail).header.size) {
            const testing::Record record = ring.at(tail);
            if (record.header.type != 3) continue;  // LOST
            const std::uint64_t writer = record.words[0] / 1'000'000;
            ASSERT_EQ(record.words[0], record.words[1]);
            ASSERT_EQ(record.words[0] % 1'000'000, next[writer - 1]++);
        }
        __atomic_store_n(&ring.header().data_tail, tail, __ATOMIC_RELEASE);
        std::this_thread::yield();
    }
}

}  // namespace
}  // namespace anyperf::subsystem
