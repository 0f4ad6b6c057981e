// side_band_test.cpp: which events get which records about tasks, as measured on Linux 6.18.
#include <sys/mman.h>

#include <array>

#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem {
namespace {

using testing::IsEmpty;

class SideBand : public SubsystemTest {
  protected:
    void SetUp() override { host.caller.perfmon = true; }

    EventIndex dummy(std::uint64_t flags, const Where& where = {}) {
        const auto event = open(software(FakeSoftwarePmu::kDummy, flags), where);
        const auto mapping = subsystem.map(
            event, {.caller = me.name, .length = 2UL * 4096, .prot = PROT_READ | PROT_WRITE, .flags = MAP_SHARED});
        EXPECT_THAT(mapping, Succeeds());
        return event;
    }
    /// The names of the records in the event's ring.
    std::vector<std::string> records(EventIndex event) {
        const auto memory = host.ring_memory(page(event).ring);
        std::vector<std::string> names;
        for (std::uint64_t at = 0; at < host.ring_page(page(event).ring).head;) {
            RecordHeader header;
            std::memcpy(&header, memory.data() + 4096 + at, sizeof header);
            names.emplace_back(abi::name_of(abi::kRecordTypes, header.type).substr(sizeof "PERF_RECORD_" - 1));
            at += header.size;
        }
        return names;
    }
    /// A field in the data of the event's ring.
    template <class T>
    T at(EventIndex event, std::size_t offset) {
        T value{};
        std::memcpy(&value, host.ring_memory(page(event).ring).data() + 4096 + offset, sizeof value);
        return value;
    }
    void map_something(bool executable) {
        subsystem.task_mapped(me.name, {.task = {100, 100},
                                        .address = 0x1000,
                                        .bytes = 4096,
                                        .prot = static_cast<std::uint32_t>(executable ? PROT_EXEC : PROT_READ),
                                        .name = "/bin/x",
                                        .build_id = {}});
    }
};

TEST_F(SideBand, ForkAndExitGoToEveryEventWithATaskOrMappingBit) {
    for (const auto bit : {flag("task"), flag("comm"), flag("mmap"), flag("mmap2"), flag("mmap_data")}) {
        FakeTask& task = host.start(200);
        const auto event = dummy(bit, {.pid = 200});
        exit(fork(task, 300));
        exit(task);
        EXPECT_THAT(records(event), ElementsAre("FORK", "EXIT")) << bit << ": the child's EXIT would need inherit";
    }
    const auto other = dummy(flag("context_switch"));
    fork(me, 300);
    EXPECT_THAT(records(other), IsEmpty());
}
TEST_F(SideBand, ForkHasChildAndParent) {
    host.time_ns = 777;
    const auto event = dummy(flag("task"));
    fork(me, 300);
    EXPECT_EQ(at<std::int32_t>(event, 8), 300);
    EXPECT_EQ(at<std::int32_t>(event, 12), 100);
    EXPECT_EQ(at<std::int32_t>(event, 16), 300);
    EXPECT_EQ(at<std::int32_t>(event, 20), 100);
    EXPECT_EQ(at<std::uint64_t>(event, 24), 777);
}
TEST_F(SideBand, ExitOfAnInheritedChildIsReportedOnce) {
    const auto event = dummy(flag("task") | flag("inherit"), {.cpu = 0});
    exit(fork(me, 300));
    EXPECT_THAT(records(event), ElementsAre("FORK", "EXIT"));
}
TEST_F(SideBand, ReadReportsTheCountOfAnInheritedChild) {
    const auto event = dummy(flag("inherit") | flag("inherit_stat") | flag("task"), {.cpu = 0});
    exit(fork(me, 300));
    EXPECT_THAT(records(event), ElementsAre("FORK", "EXIT", "READ"));
    EXPECT_EQ(at<std::int32_t>(event, 64 + 8), 300) << "the child's pid";
}
TEST_F(SideBand, RecordsDoNotGoToADisabledEvent) {
    const auto event = dummy(flag("comm") | kDisabled);
    subsystem.task_comm(me.name, "name", false);
    enable(event);
    subsystem.task_comm(me.name, "name", false);
    EXPECT_THAT(records(event), ElementsAre("COMM"));
}
TEST_F(SideBand, EnableOnExecIncludesTheRecordsOfThatExec) {
    const auto event = dummy(flag("comm") | flag("mmap") | kDisabled | flag("enable_on_exec"));
    subsystem.task_exec(me.name, me.name);
    subsystem.task_comm(me.name, "program", true);
    map_something(true);
    EXPECT_THAT(records(event), ElementsAre("COMM", "MMAP"));
}
TEST_F(SideBand, MmapReportsExecutableMappingsAndMmapDataTheOthers) {
    const auto code = dummy(flag("mmap"));
    const auto data = dummy(flag("mmap_data"));
    const auto code2 = dummy(flag("mmap") | flag("mmap2"));
    map_something(true);
    EXPECT_THAT(records(code), ElementsAre("MMAP"));
    EXPECT_THAT(records(data), IsEmpty());
    EXPECT_THAT(records(code2), ElementsAre("MMAP2"));
    map_something(false);
    EXPECT_THAT(records(code), ElementsAre("MMAP"));
    EXPECT_THAT(records(data), ElementsAre("MMAP"));
}
TEST_F(SideBand, Mmap2AloneNeedsAnotherEventThatEnablesMappings) {
    const auto event = dummy(flag("mmap2"));
    map_something(true);
    EXPECT_THAT(records(event), IsEmpty());
    FakeTask& other = host.start(200);
    const auto asks = dummy(flag("mmap"), {.pid = other.name.pid});
    map_something(true);
    EXPECT_THAT(records(event), ElementsAre("MMAP2"));
    subsystem.close(asks);
}
TEST_F(SideBand, NewestEventWritesFirstIntoASharedRing) {
    const auto first = dummy(flag("comm"));
    Attr attr = software(9, flag("comm") | flag("sample_id_all"));
    attr.sample_type = abi::sample("PERF_SAMPLE_IDENTIFIER");
    const auto second = open(attr);
    ASSERT_THAT(
        ioctl(second, "PERF_EVENT_IOC_SET_OUTPUT", IoctlArgument{.descriptor = {.none = false, .event = first}}),
        Succeeds());
    subsystem.task_comm(me.name, "name", false);
    EXPECT_EQ(at<std::uint16_t>(first, 6), 32) << "it has the trailer of the second event";
    EXPECT_THAT(records(first), ElementsAre("COMM", "COMM"));
}
TEST_F(SideBand, CpuWideEventGetsTheRecordsOfTasksOnItsCpu) {
    const auto event = dummy(flag("task") | flag("context_switch"), {.pid = -1, .cpu = 0});
    FakeTask& child = fork(me, 300);
    subsystem.task_switched(me.name, SwitchDirection::out, child.name);
    move(me, 1);
    subsystem.task_switched(me.name, SwitchDirection::in, child.name);
    exit(child);
    EXPECT_THAT(records(event), ElementsAre("FORK", "SWITCH_CPU_WIDE", "EXIT"));
}
TEST_F(SideBand, SwitchRecordsOfATaskEventAreShort) {
    const auto event = dummy(flag("context_switch"));
    subsystem.task_switched(me.name, SwitchDirection::out, {});
    subsystem.task_switched(me.name, SwitchDirection::in, {});
    EXPECT_THAT(records(event), ElementsAre("SWITCH", "SWITCH"));
    EXPECT_EQ(host.ring_page(page(event).ring).head, 16);
}
TEST_F(SideBand, NamespacesAndCgroupsAreReported) {
    const auto event = dummy(flag("namespaces") | flag("cgroup"));
    subsystem.task_namespaces(me.name, {});
    subsystem.task_made_cgroup(me.name, 5, "/a");
    EXPECT_THAT(records(event), ElementsAre("NAMESPACES", "CGROUP"));
}
TEST_F(SideBand, BpfProgramIsReportedAfterItsSymbols) {
    const auto both = dummy(flag("ksymbol") | flag("bpf_event"));
    const auto symbols = dummy(flag("ksymbol"));
    const std::array functions{KernelSymbol{.address = 0x1000, .bytes = 64, .type = 1, .name = "bpf_prog_a"},
                               KernelSymbol{.address = 0x2000, .bytes = 32, .type = 1, .name = "bpf_prog_b"}};
    subsystem.task_loaded_bpf(me.name, functions, {.type = 1, .id = 7});
    EXPECT_THAT(records(both), ElementsAre("KSYMBOL", "KSYMBOL", "BPF_EVENT"));
    EXPECT_THAT(records(symbols), ElementsAre("KSYMBOL", "KSYMBOL"));
}
TEST_F(SideBand, CpuWideEventGetsCgroupsAndNamespacesOnlyWithAnotherBit) {
    const auto alone = dummy(flag("cgroup") | flag("namespaces"), {.pid = -1, .cpu = 0});
    const auto with_comm = dummy(flag("cgroup") | flag("namespaces") | flag("comm"), {.pid = -1, .cpu = 0});
    subsystem.task_made_cgroup(me.name, 5, "/a");
    subsystem.task_namespaces(me.name, {});
    EXPECT_THAT(records(alone), IsEmpty());
    EXPECT_THAT(records(with_comm), ElementsAre("CGROUP", "NAMESPACES"));
}
TEST_F(SideBand, WantedRecordsFollowTheOpenEvents) {
    EXPECT_FALSE(subsystem.wanted(Interest::comm));
    const auto event = open(software(9, flag("comm")));
    EXPECT_TRUE(subsystem.wanted(Interest::comm));
    EXPECT_TRUE(subsystem.wanted(Interest::exit));
    EXPECT_FALSE(subsystem.wanted(Interest::context_switch));
    subsystem.close(event);
    EXPECT_FALSE(subsystem.wanted(Interest::comm));
}
TEST_F(SideBand, WakeUpReachesAllEventsThatShareTheRing) {
    Attr attr = software(9, flag("comm") | flag("watermark"));
    attr.wakeup_events = 1;
    const auto event = open(attr);
    ASSERT_THAT(subsystem.map(event, {.caller = me.name, .length = 8192, .prot = PROT_WRITE, .flags = MAP_SHARED}),
                Succeeds());
    const auto other = open(software(9));
    ASSERT_THAT(ioctl(other, "PERF_EVENT_IOC_SET_OUTPUT", IoctlArgument{.descriptor = {.none = false, .event = event}}),
                Succeeds());
    host.poll_changes.clear();
    subsystem.task_comm(me.name, "name", false);
    EXPECT_THAT(host.poll_changes, ElementsAre(event, other));
    EXPECT_TRUE(subsystem.poll(other).in);
}

}  // namespace
}  // namespace anyperf::subsystem
