// rings_test.cpp: mapping, redirecting, pausing and polling the rings of events, as measured on Linux 6.18.
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "abi/mmap_page.h"
#include "subsystem/shared/sample_id.h"
#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem {
namespace {

constexpr std::uint64_t kPage = 4096;

class Rings : public SubsystemTest {
  protected:
    Answer<Mapping> try_map(EventIndex event, std::uint64_t pages, std::int32_t prot = PROT_READ | PROT_WRITE) {
        return subsystem.map(
            event, {.caller = me.name, .length = pages * kPage, .offset = 0, .prot = prot, .flags = MAP_SHARED});
    }
    Mapping map(EventIndex event, std::uint64_t pages = 2) {
        const auto mapping = try_map(event, pages);
        EXPECT_THAT(mapping, Succeeds());
        return mapping.value_or(Mapping{});
    }
    Answer<IoctlAnswer> set_output(EventIndex event, std::optional<EventIndex> target) {
        return ioctl(event, "PERF_EVENT_IOC_SET_OUTPUT",
                     IoctlArgument{.descriptor = {.none = !target, .event = target, .open = target.has_value()}});
    }
    bool hangs_up(EventIndex event) { return subsystem.poll(event).hang_up; }
};

TEST_F(Rings, HaveAHeaderAndZeroOrAPowerOfTwoDataPages) {
    for (const std::uint64_t pages : {1, 2, 3, 5, 9, 129}) {
        const auto event = open(counting());
        const Mapping mapping = map(event, pages);
        EXPECT_EQ(mapping.bytes, pages * kPage);
        EXPECT_EQ(host.ring_page(mapping.ring).pages, pages - 1);
        subsystem.close(event);
        subsystem.unmap(event, mapping);
    }
    const auto event = open(counting());
    for (const std::uint64_t pages : {0, 4, 6, 8}) EXPECT_THAT(try_map(event, pages), RefusedWith(EINVAL)) << pages;
}
TEST_F(Rings, RoundTheirLengthUpToPages) {
    EXPECT_THAT(subsystem.map(open(counting()), {.caller = me.name, .length = kPage + 1, .flags = MAP_SHARED}),
                Succeeds());
}
TEST_F(Rings, MappedPrivateAreEinvalAndExecutableEperm) {
    const auto event = open(counting());
    EXPECT_THAT(subsystem.map(event, {.caller = me.name, .length = kPage, .flags = MAP_PRIVATE}), RefusedWith(EINVAL));
    EXPECT_THAT(try_map(event, 2, PROT_READ | PROT_EXEC), RefusedWith(EPERM));
    EXPECT_THAT(try_map(event, 2, PROT_NONE), Succeeds());
}
TEST_F(Rings, AtAnOffsetAreEinvalAndAuxAreasEopnotsupp) {
    const auto event = open(counting());
    const MapRequest aux{.caller = me.name, .length = kPage, .offset = 2 * kPage, .flags = MAP_SHARED};
    EXPECT_THAT(subsystem.map(event, aux), RefusedWith(EINVAL));
    const Mapping mapping = map(event);
    EXPECT_THAT(subsystem.map(event, aux), RefusedWith(EINVAL));
    auto* header = reinterpret_cast<abi::MmapPage*>(host.ring_memory(mapping.ring).data());
    header->aux_offset = 2 * kPage;
    header->aux_size = kPage;
    EXPECT_THAT(subsystem.map(event, aux), RefusedWith(EOPNOTSUPP));
}
TEST_F(Rings, OfInheritedEventsNeedACpu) {
    EXPECT_THAT(try_map(open(counting(0, flag("inherit"))), 2), RefusedWith(EINVAL));
    EXPECT_THAT(try_map(open(counting(0, flag("inherit")), {.cpu = 0}), 2), Succeeds());
}
TEST_F(Rings, MappedTwiceMustHaveTheSameSize) {
    const auto event = open(counting());
    const Mapping first = map(event);
    EXPECT_EQ(map(event).ring, first.ring);
    EXPECT_THAT(try_map(event, 1), RefusedWith(EINVAL));
    EXPECT_THAT(try_map(event, 3), RefusedWith(EINVAL));
}
TEST_F(Rings, MappedAgainLaterMayHaveAnotherSize) {
    const auto event = open(counting());
    subsystem.unmap(event, map(event));
    EXPECT_EQ(host.rings(), 0);
    EXPECT_THAT(try_map(event, 9), Succeeds());
}
TEST_F(Rings, KeepTheirEventWhileTheyAreMapped) {
    const auto event = open(counting());
    const Mapping mapping = map(event);
    subsystem.close(event);
    EXPECT_EQ(subsystem.events(), 1);
    subsystem.unmap(event, mapping);
    EXPECT_EQ(subsystem.events(), 0);
}
TEST_F(Rings, OfAParentAreUsedByItsChildren) {
    const auto event = open(counting(0, flag("inherit")), {.cpu = 0});
    fork(me, 200);
    const Mapping mapping = map(event);
    EXPECT_EQ(page(event + 1).ring, mapping.ring);
    fork(me, 201);
    EXPECT_EQ(page(event + 2).ring, mapping.ring);
    subsystem.unmap(event, mapping);
    EXPECT_EQ(page(event + 2).ring, 0);
}
TEST_F(Rings, FollowTheAttr) {
    Attr attr = counting(0, flag("watermark") | flag("write_backward"));
    attr.wakeup_events = 100;
    const auto event = open(attr);
    const auto mapping = try_map(event, 3, PROT_READ);
    ASSERT_THAT(mapping, Succeeds());
    const RingPage& ring = host.ring_page(mapping->ring);
    EXPECT_EQ(ring.watermark, 100);
    EXPECT_EQ(ring.backward, 1);
    EXPECT_EQ(ring.overwrite, 1) << "mapped read-only";
    const auto* header = reinterpret_cast<const abi::MmapPage*>(host.ring_memory(mapping->ring).data());
    EXPECT_EQ(header->data_size, 2 * kPage);
}

TEST_F(Rings, AreLimitedByLockedMemoryPerUserAndThenPerProcess) {
    const auto map_pages = [this](std::uint64_t pages) { return try_map(open(counting()), pages); };
    // 516 KiB for each of two CPUs: 258 pages.
    EXPECT_THAT(map_pages(129), Succeeds());
    EXPECT_THAT(map_pages(129), Succeeds());
    EXPECT_THAT(map_pages(1), RefusedWith(EPERM));
    EXPECT_EQ(host.rings(), 2);
    host.caller.memlock_bytes = 2 * kPage;
    EXPECT_THAT(map_pages(2), Succeeds());
    EXPECT_THAT(map_pages(1), RefusedWith(EPERM));
    host.caller.perfmon = true;
    EXPECT_THAT(map_pages(1), RefusedWith(EPERM)) << "CAP_PERFMON lifts no limit of memory";
    host.caller.perfmon = false;
    host.caller.ipc_lock = true;
    EXPECT_THAT(map_pages(129), Succeeds());
    host.caller.ipc_lock = false;
    host.limits_now.paranoid = -1;
    EXPECT_THAT(map_pages(129), Succeeds());
}
TEST_F(Rings, AreNotChargedAfterTheyAreUnmapped) {
    for (int i = 0; i < 5; ++i) {
        const auto event = open(counting());
        subsystem.unmap(event, map(event, 257));
    }
}

TEST_F(Rings, AreSharedBySetOutput) {
    const auto target = open(counting());
    const auto event = open(counting(1));
    EXPECT_THAT(set_output(event, target), RefusedWith(EINVAL)) << "the target has no ring yet";
    const Mapping mapping = map(target);
    EXPECT_THAT(set_output(event, target), Succeeds());
    EXPECT_EQ(page(event).ring, mapping.ring);
    const auto third = open(counting(1));
    EXPECT_THAT(set_output(third, event), Succeeds()) << "the target may be redirected itself";
    EXPECT_EQ(page(third).ring, mapping.ring);
    EXPECT_THAT(set_output(event, std::nullopt), Succeeds());
    EXPECT_EQ(page(event).ring, 0);
}
TEST_F(Rings, AreNotSharedByInvalidSetOutput) {
    const auto target = open(counting());
    map(target);
    EXPECT_THAT(set_output(target, target), RefusedWith(EINVAL));
    const auto bound = open(counting(), {.cpu = 0});
    EXPECT_THAT(set_output(bound, target), RefusedWith(EINVAL));
    host.start(200);
    EXPECT_THAT(set_output(open(counting(), {.pid = 200}), target), RefusedWith(EINVAL));
    Attr clock = counting(0, flag("use_clockid"));
    clock.clockid = 1;
    EXPECT_THAT(set_output(open(clock), target), RefusedWith(EINVAL));
    EXPECT_THAT(set_output(open(counting(0, flag("write_backward"))), target), RefusedWith(EINVAL));
    const auto mapped = open(counting());
    const Mapping own = map(mapped);
    EXPECT_THAT(set_output(mapped, target), RefusedWith(EINVAL)) << "its own ring is mapped";
    EXPECT_THAT(set_output(mapped, std::nullopt), RefusedWith(EINVAL));
    subsystem.unmap(mapped, own);
    EXPECT_THAT(set_output(mapped, target), Succeeds());
    EXPECT_THAT(ioctl(mapped, "PERF_EVENT_IOC_SET_OUTPUT", IoctlArgument{.descriptor = {.none = false}}),
                RefusedWith(EBADF));
}
TEST_F(Rings, MayBeSharedByDifferentTasksOnOneCpu) {
    host.start(200);
    const auto target = open(counting(), {.cpu = 0});
    map(target);
    EXPECT_THAT(set_output(open(counting(), {.pid = 200, .cpu = 0}), target), Succeeds());
}
TEST_F(Rings, OfRedirectedEventsCannotBeMapped) {
    const auto target = open(counting());
    map(target);
    const auto event = open(counting());
    ASSERT_THAT(set_output(event, target), Succeeds());
    EXPECT_THAT(try_map(event, 2), RefusedWith(EBUSY));
    EXPECT_THAT(try_map(event, 3), RefusedWith(EINVAL));
}
TEST_F(Rings, AreLostByRedirectedEventsAfterTheLastUnmap) {
    const auto target = open(counting());
    const auto event = open(counting());
    const Mapping mapping = map(target);
    ASSERT_THAT(set_output(event, target), Succeeds());
    EXPECT_FALSE(hangs_up(event));
    subsystem.close(target);
    EXPECT_EQ(page(event).ring, mapping.ring) << "the mapping keeps the ring";
    subsystem.unmap(target, mapping);
    EXPECT_TRUE(hangs_up(event));
    EXPECT_EQ(host.rings(), 0);
}
TEST_F(Rings, AreSharedByFdOutputWhichAlsoJoinsTheGroup) {
    const auto output = abi::bit(abi::kOpenFlags, "PERF_FLAG_FD_OUTPUT");
    const auto no_group = abi::bit(abi::kOpenFlags, "PERF_FLAG_FD_NO_GROUP");
    const auto leader = open(with_format(counting(), read_format("PERF_FORMAT_GROUP")));
    EXPECT_THAT(try_open(counting(), {.group = leader, .flags = output}), RefusedWith(EINVAL))
        << "the leader has no ring";
    EXPECT_THAT(try_open(counting(), {.flags = output}), Succeeds()) << "ignored if group_fd is -1";
    const Mapping mapping = map(leader);
    const auto both = open(counting(), {.group = leader, .flags = output});
    EXPECT_EQ(page(both).ring, mapping.ring);
    EXPECT_EQ(read(leader).at(0), 2);
    const auto alone = open(counting(), {.group = leader, .flags = output | no_group});
    EXPECT_EQ(page(alone).ring, mapping.ring);
    EXPECT_EQ(read(leader).at(0), 2);
}

TEST_F(Rings, HaveCountAndTimesOfTheLastStartInTheirHeader) {
    const auto event = open(counting());
    me.run(10, 5);
    const Mapping mapping = map(event);
    const auto& header = *reinterpret_cast<const abi::MmapPage*>(host.ring_memory(mapping.ring).data());
    EXPECT_EQ(header.offset, 0) << "the event began when its source was 0";
    EXPECT_EQ(header.time_enabled, 10);
    EXPECT_EQ(header.index, event + 1) << "the counter that the thread may read by rdpmc";
    EXPECT_EQ(header.pmc_width, 64);
    EXPECT_EQ(header.lock % 2, 0);
    me.run(10, 5);
    reset(event);
    EXPECT_EQ(header.offset, -10) << "the source is 10";
    EXPECT_EQ(header.time_running, 20);
}
TEST_F(Rings, NeedDataPagesToBePaused) {
    const auto event = open(counting());
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_PAUSE_OUTPUT", 1), RefusedWith(EINVAL));
    const Mapping header = map(event, 1);
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_PAUSE_OUTPUT", 1), RefusedWith(EINVAL));
    subsystem.unmap(event, header);
    const Mapping ring = map(event);
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_PAUSE_OUTPUT", 1), Succeeds());
    EXPECT_EQ(host.ring_page(ring.ring).paused, 1);
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_PAUSE_OUTPUT", 0), Succeeds());
    EXPECT_EQ(host.ring_page(ring.ring).paused, 0);
}

TEST_F(Rings, AreThoseThatWereMappedEvenIfAProgramHasOverwrittenThePages) {
    const auto event = open(counting());
    const Mapping mapping = map(event);
    page(event).ring = 4711;
    page(event).source.terms = 255;
    page(event).sampling = 1;
    host.ring_page(mapping.ring).pages = 1U << 20;
    EXPECT_FALSE(hangs_up(event));
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_PAUSE_OUTPUT", 1), Succeeds());
    EXPECT_EQ(map(event).offset, mapping.offset);
    subsystem.unmap(event, mapping);
    subsystem.unmap(event, mapping);
    subsystem.close(event);
    EXPECT_EQ(host.rings(), 0U);
    EXPECT_EQ(subsystem.events(), 0U);
}

TEST_F(Rings, CallsOnAnEventThatIsNotOpenAreEbadf) {
    const auto event = open(counting(0, flag("inherit")));
    fork(me, 200);
    for (const EventIndex no_event : {0u, event + 1, 99u}) {
        EXPECT_THAT(subsystem.read(no_event, 100), RefusedWith(EBADF));
        EXPECT_THAT(ioctl(no_event, "PERF_EVENT_IOC_ENABLE"), RefusedWith(EBADF));
        EXPECT_THAT(try_map(no_event, 2), RefusedWith(EBADF));
        EXPECT_THAT(try_open(counting(), {.group = no_event}), RefusedWith(EBADF));
        EXPECT_THAT(set_output(event, no_event), RefusedWith(EBADF));
        subsystem.unmap(no_event, {.ring = 5});
        subsystem.close(no_event);
        EXPECT_TRUE(hangs_up(no_event));
    }
    subsystem.unmap(event, {.ring = 5});
    EXPECT_EQ(subsystem.events(), 2);
}

TEST_F(Rings, PollHangsUpWithoutOne) {
    const auto event = open(counting());
    EXPECT_TRUE(hangs_up(event));
    const Mapping mapping = map(event);
    EXPECT_FALSE(hangs_up(event));
    subsystem.unmap(event, mapping);
    EXPECT_TRUE(hangs_up(event));
}
TEST_F(Rings, ReportAWakeUpOnce) {
    const auto event = open(counting());
    const Mapping mapping = map(event);
    EXPECT_FALSE(subsystem.poll(event).in);
    host.ring_page(mapping.ring).wake_pending = 1;
    EXPECT_TRUE(subsystem.poll(event).in);
    EXPECT_FALSE(subsystem.poll(event).in);
}
TEST_F(Rings, HangUpAtExitDespiteAnUnseenWakeUp) {
    FakeTask& child = host.start(200);
    const auto event = open(counting(), {.pid = 200});
    host.ring_page(map(event).ring).wake_pending = 1;
    exit(child);
    const PollState state = subsystem.poll(event);
    EXPECT_TRUE(state.hang_up);
    EXPECT_FALSE(state.in);
}

class RecordsOfThreads : public Rings {
  protected:
    /// A record of two words, as bytes.
    static std::vector<std::byte> record(std::uint32_t type, std::uint16_t size = 16) {
        std::vector<std::byte> bytes(16);
        const RecordHeader header{type, 0, size};
        std::memcpy(bytes.data(), &header, sizeof header);
        return bytes;
    }
    std::uint64_t head(const Mapping& mapping) {
        return reinterpret_cast<const abi::MmapPage*>(host.ring_memory(mapping.ring).data())->data_head;
    }
};

TEST_F(RecordsOfThreads, AreWrittenForTheTaskThatTheEventCounts) {
    const auto event = open(counting());
    const Mapping mapping = map(event);
    EXPECT_TRUE(subsystem.write_foreign_record(me.name, event, record(9)));
    EXPECT_EQ(head(mapping), 16U);
    TaskId other = me.name;
    other.thread_page += 1;
    EXPECT_FALSE(subsystem.write_foreign_record(other, event, record(9)));
    EXPECT_FALSE(subsystem.write_foreign_record(me.name, event + 1, record(9)));
    EXPECT_EQ(head(mapping), 16U);
}
TEST_F(RecordsOfThreads, OfOtherTypesOrSizesAreNotWritten) {
    const auto event = open(counting());
    const Mapping mapping = map(event);
    for (const std::uint32_t type : {0U, 1U, 2U, 3U, 10U, 22U, ~0U})
        EXPECT_FALSE(subsystem.write_foreign_record(me.name, event, record(type)));
    for (const std::uint16_t size : {0, 8, 15, 24, 0xffff})
        EXPECT_FALSE(subsystem.write_foreign_record(me.name, event, record(9, size)));
    EXPECT_FALSE(subsystem.write_foreign_record(me.name, event, {}));
    EXPECT_EQ(head(mapping), 0U);
}
TEST_F(RecordsOfThreads, AreLostWithoutARing) {
    EXPECT_FALSE(subsystem.write_foreign_record(me.name, open(counting()), record(9)));
}

}  // namespace
}  // namespace anyperf::subsystem
