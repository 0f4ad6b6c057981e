// tasks_test.cpp: the layout of the records about tasks (COMM, FORK, EXIT, NAMESPACES, SWITCH, ITRACE_START), as on
// Linux 6.18.
#include "subsystem/records/tasks.h"

#include <gtest/gtest.h>

#include "unit/subsystem/records/parsed_record.h"

namespace anyperf::subsystem {
namespace {

using testing::Parsed;
constexpr std::uint16_t kTrailer = 16;

TEST(CommRecord, HasPidTidNamePaddedToEight) {
    Parsed comm{comm_record({100, 101}, "sevench", false)};
    EXPECT_EQ(comm.type, 3u);
    EXPECT_EQ(comm.misc, 0);
    EXPECT_EQ(comm.size, 24 + kTrailer);
    EXPECT_EQ(comm.half(), 100u);
    EXPECT_EQ(comm.half(), 101u);
    EXPECT_EQ(comm.name(), "sevench");
    comm.ends();
    EXPECT_EQ(Parsed(comm_record({}, "eight___", false)).size, 32 + kTrailer);
    EXPECT_EQ(Parsed(comm_record({}, "", false)).size, 24 + kTrailer);
}

TEST(CommRecord, OfAnExecHasItsMiscBit) {
    EXPECT_EQ(Parsed(comm_record({}, "true", true)).misc, 0x2000);
}

TEST(ForkRecord, HasPidPpidTidPtidTime) {
    Parsed fork{fork_record({200, 201}, {100, 101}, 5'000'000'000)};
    EXPECT_EQ(fork.type, 7u);
    EXPECT_EQ(fork.size, 32 + kTrailer);
    EXPECT_EQ(fork.half(), 200u);
    EXPECT_EQ(fork.half(), 100u);
    EXPECT_EQ(fork.half(), 201u);
    EXPECT_EQ(fork.half(), 101u);
    EXPECT_EQ(fork.word(), 5'000'000'000u);
    fork.ends();
}

TEST(ExitRecord, HasTheLayoutOfFork) {
    Parsed exit{exit_record({200, 201}, {1, 1}, 6)};
    EXPECT_EQ(exit.type, 4u);
    EXPECT_EQ(exit.half(), 200u);
    EXPECT_EQ(exit.half(), 1u);
    EXPECT_EQ(exit.half(), 201u);
    EXPECT_EQ(exit.half(), 1u);
    EXPECT_EQ(exit.word(), 6u);
    exit.ends();
}

TEST(NamespacesRecord, HasSevenLinks) {
    std::array<NamespaceLink, kNamespaces> links;
    for (std::size_t i = 0; i < links.size(); ++i) links[i] = {4, 0xf000'0000 + i};
    Parsed record{namespaces_record({100, 101}, links)};
    EXPECT_EQ(record.type, 16u);
    EXPECT_EQ(record.size, 136 + kTrailer);
    EXPECT_EQ(record.half(), 100u);
    EXPECT_EQ(record.half(), 101u);
    EXPECT_EQ(record.word(), 7u);
    for (std::size_t i = 0; i < links.size(); ++i) {
        EXPECT_EQ(record.word(), 4u);
        EXPECT_EQ(record.word(), 0xf000'0000 + i);
    }
    record.ends();
}

TEST(SwitchRecord, IsAHeaderWhoseMiscGivesTheDirection) {
    Parsed out{switch_record(SwitchDirection::out)};
    EXPECT_EQ(out.type, 14u);
    EXPECT_EQ(out.size, 8 + kTrailer);
    EXPECT_EQ(out.misc, 0x2000) << "it sleeps, so PREEMPT is not set";
    out.ends();
    EXPECT_EQ(Parsed(switch_record(SwitchDirection::in)).misc, 0);
    EXPECT_EQ(Parsed(switch_record(SwitchDirection::preempted)).misc, 0x6000);
}

TEST(CpuSwitchRecord, HasTheOtherTask) {
    Parsed in{cpu_switch_record(SwitchDirection::in, {300, 301})};
    EXPECT_EQ(in.type, 15u);
    EXPECT_EQ(in.misc, 0);
    EXPECT_EQ(in.half(), 300u);
    EXPECT_EQ(in.half(), 301u);
    in.ends();
}

TEST(ItraceStartRecord, HasPidTid) {
    Parsed start{itrace_start_record({300, 301})};
    EXPECT_EQ(start.type, 12u);
    EXPECT_EQ(start.half(), 300u);
    EXPECT_EQ(start.half(), 301u);
    start.ends();
}

}  // namespace
}  // namespace anyperf::subsystem
