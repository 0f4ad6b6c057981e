// uprobe_test.cpp: what the uprobe PMU accepts, with the refusals of Linux 6.18 in their order, and how events share
// probed places.
#include "pmu/tracing/uprobe_pmu.h"

#include <gtest/gtest.h>

#include <array>

#include "unit/pmu/pmu_request.h"

namespace anyperf::pmu {
namespace {

using subsystem::Probe;
using subsystem::ProbedFile;
using subsystem::Source;
using testing::RefusedWith;
using testing::rights_of;

const ProbedFile kProgram{.error = 0, .unused = 0, .name = {.device = 8, .inode = 42}, .bytes = 1000};

abi::Attr at(std::uint64_t offset, std::uint64_t config = 0) {
    return {.type = subsystem::kTypeUprobe, .config = config, .config2 = offset};
}

class Uprobe : public ::testing::Test {
  protected:
    subsystem::Answer<subsystem::Wiring> open(const abi::Attr& attr, subsystem::EventIndex event = 1,
                                              const ProbedFile& file = kProgram, bool may_probe = true) {
        const subsystem::TaskId task{.thread_page = 1, .pid = 10, .tid = 10};
        return pmu.init({.attr = attr,
                         .event = event,
                         .task = &task,
                         .opener = task,
                         .rights = rights_of({.perfmon = may_probe}),
                         .inherited = false,
                         .file = file});
    }
    subsystem::Answer<subsystem::Wiring> inherit(const abi::Attr& attr, subsystem::EventIndex parent) {
        const subsystem::TaskId task{.thread_page = 2, .pid = 11, .tid = 11};
        return pmu.init({.attr = attr,
                         .event = 9,
                         .task = &task,
                         .opener = task,
                         .rights = rights_of({}),
                         .inherited = true,
                         .parent = parent});
    }

    static Probe probe_at(std::uint64_t offset) {
        Probe probe;
        probe.offset = offset;
        return probe;
    }

    std::array<Probe, 4> memory{};
    ProbeTable places{memory};
    UprobePmu pmu{places};
};

TEST_F(Uprobe, CountsEntriesToAndReturnsFromAPlace) {
    const auto reached = open(at(0x10));
    ASSERT_TRUE(reached);
    EXPECT_EQ(reached->source.kind, Source::Kind::occurrences);
    EXPECT_EQ(reached->source.occurrence_kind, Source::OccurrenceKind::probe_reached);
    EXPECT_EQ(memory.at(reached->source.number).offset, 0x10U);
    EXPECT_EQ(memory.at(reached->source.number).file.inode, 42U);
    const auto left = open(at(0x10, 1), 2);
    ASSERT_TRUE(left);
    EXPECT_EQ(left->source.occurrence_kind, Source::OccurrenceKind::probe_returned);
    EXPECT_EQ(left->source.number, reached->source.number) << "both share one place";
}

TEST_F(Uprobe, PlaceIsFoundAfterAnEarlierOneIsReleased) {
    const auto first = places.acquire(probe_at(1));
    const auto second = places.acquire(probe_at(2));
    const auto third = places.acquire(probe_at(3));
    ASSERT_TRUE(first && second && third);
    places.release(*first);
    places.release(*second);
    EXPECT_EQ(places.acquire(probe_at(3)), third);
    EXPECT_EQ(places.acquire(probe_at(4)), first);
    EXPECT_EQ(places.acquire(probe_at(5)), second);
    EXPECT_FALSE(places.acquire(probe_at(6))) << "the table has room for three";
}

TEST_F(Uprobe, PlaceIsTheRequestedOneEvenIfAProgramHasOverwrittenTheMemory) {
    const auto place = places.acquire(probe_at(1));
    memory.at(*place).offset = 2;
    EXPECT_EQ(places.acquire(probe_at(1)), place);
    EXPECT_NE(places.acquire(probe_at(2)), place);
}

TEST_F(Uprobe, RefusesInTheKernelsOrder) {
    abi::Attr attr = at(2000);
    attr.sample_type = abi::sample("PERF_SAMPLE_BRANCH_STACK");
    ProbedFile absent;
    absent.error = ENOENT;
    EXPECT_THAT(open(attr, 1, absent, false), RefusedWith(EACCES));
    EXPECT_THAT(open(attr, 1, absent), RefusedWith(EOPNOTSUPP));
    EXPECT_THAT(open(at(2000), 1, absent), RefusedWith(ENOENT));
    EXPECT_THAT(open(at(1001)), RefusedWith(EINVAL));
    EXPECT_TRUE(open(at(1000))) << "Linux accepts the end of the file as a place";
    EXPECT_THAT(open(at(0x10, 0x3ull << 32)), RefusedWith(EINVAL));
}

TEST_F(Uprobe, HasOneReferenceCounterPerPlace) {
    ASSERT_TRUE(open(at(0x10, 0x100ull << 32), 1));
    EXPECT_TRUE(open(at(0x10, 0x100ull << 32), 2));
    EXPECT_THAT(open(at(0x10), 3), RefusedWith(EINVAL));
    EXPECT_TRUE(open(at(0x20), 3));
}

TEST_F(Uprobe, FreesAPlaceWithItsLastEvent) {
    for (subsystem::EventIndex event = 1; event <= 3; ++event) ASSERT_TRUE(open(at(event), event));
    EXPECT_THAT(open(at(9), 4), RefusedWith(ENOMEM));
    const std::uint64_t version = memory.at(2).version;
    pmu.destroy(2);
    ASSERT_TRUE(open(at(9), 4));
    EXPECT_EQ(memory.at(2).offset, 9U);
    EXPECT_NE(memory.at(2).version, version) << "threads that have seen the old place must notice";
}

TEST_F(Uprobe, ChildrenShareTheirParentsPlace) {
    const auto parent = open(at(0x10));
    ASSERT_TRUE(parent);
    const auto child = inherit(at(0x10), 1);
    ASSERT_TRUE(child);
    EXPECT_EQ(child->source.number, parent->source.number);
    pmu.destroy(9);
    EXPECT_TRUE(open(at(0x10), 2));
}

TEST_F(Uprobe, LeavesOtherTypesToOtherPmus) {
    abi::Attr attr = at(0x10);
    attr.type = abi::kTypeSoftware;
    EXPECT_THAT(open(attr), RefusedWith(ENOENT));
}

}  // namespace
}  // namespace anyperf::pmu
