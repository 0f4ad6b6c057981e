// tracepoint_events_test.cpp: the tracepoints of a machine are events of `perf`: a system is an event, its tracepoints
// are masks.
#include <gtest/gtest.h>

#include <string>

#include "events/catalog/encoding/encoding.h"
#include "unit/events/catalog/other_machine.h"

namespace anyperf::catalog {
namespace {

struct Answer {
    ErrorCode code;
    std::uint32_t type;
    std::uint64_t config;
    std::string canonical;
};

Answer encoded(const MachinePmus& machine, std::string_view text) {
    Encoding encoding{machine};
    const Refusal refusal = encode(text, kPlmUser | kPlmKernel, Os::perf, encoding);
    if (refusal.refused()) return {refusal.code, 0, 0, refusal.reason};
    std::string canonical(kCanonicalBytes, '\0');
    abi::Attr attr;
    encoding.perf.apply(attr);
    canonical.resize(encoding.canonical(canonical, &attr));
    return {refusal.code, attr.type, attr.config, canonical};
}

class Tracepoints : public testing::Test {
  protected:
    void mount(const std::string& mounts, const std::string& events) {
        files.write("/proc/mounts", mounts);
        files.write(events + "/header_page", "");
        files.write(events + "/sched/enable", "0\n");
        files.write(events + "/sched/sched_switch/id", "312\n");
        files.write(events + "/sched/sched_wakeup/id", "315\n");
        files.write(events + "/syscalls/sys_enter_lchown/id", "77\n");
        files.write(events + "/empty/enable", "0\n");
    }
    MachinePmus machine(bool tracepoints = true) const {
        return MachinePmus{DetectionOptions{.root = files.directory(), .force = "perf", .tracepoints = tracepoints}};
    }
    static constexpr const char* kDebugfs = "sysfs /sys sysfs rw 0 0\nnone /d debugfs rw 0 0\n";

    OtherMachine files;
};

TEST_F(Tracepoints, AreEventsOfPerfByDebugfs) {
    mount(kDebugfs, "/d/tracing/events");
    const MachinePmus here = machine();
    const Answer answer = encoded(here, "perf::sched:sched_switch");
    EXPECT_EQ(answer.type, 2U);
    EXPECT_EQ(answer.config, 312U);
    EXPECT_EQ(answer.canonical, "perf::sched:sched_switch:u=1:k=1:mg=0:mh=1");
    EXPECT_EQ(encoded(here, "syscalls:SYS_ENTER_LCHOWN:u").config, 77U) << "no prefix, any case";
}

TEST_F(Tracepoints, AreEventsOfPerfByTracefs) {
    mount("none /t tracefs rw 0 0\n", "/t/events");
    EXPECT_EQ(encoded(machine(), "perf::sched:sched_wakeup").config, 315U);
}

TEST_F(Tracepoints, ComeFromTracefsIfDebugfsHasNone) {
    mount("none /d debugfs rw 0 0\nnone /t tracefs rw 0 0\n", "/t/events");
    EXPECT_EQ(encoded(machine(), "perf::sched:sched_wakeup").config, 315U);
}

TEST_F(Tracepoints, AreNotCombined) {
    mount(kDebugfs, "/d/tracing/events");
    const MachinePmus here = machine();
    EXPECT_EQ(encoded(here, "perf::sched:sched_switch:sched_wakeup").code, ErrorCode::feature_combination);
    EXPECT_EQ(encoded(here, "perf::sched:sched_witch").code, ErrorCode::attribute);
    EXPECT_EQ(encoded(here, "perf::sched").config, 0U) << "as libpfm";
    EXPECT_EQ(encoded(here, "perf::empty").code, ErrorCode::not_found);
}

TEST_F(Tracepoints, ComeBeforeTheOptionalEventsAndAfterTheOthers) {
    mount(kDebugfs, "/d/tracing/events");
    const auto without = machine(false);
    const auto with = machine();
    const PmuRow& perf = *find_pmu("perf");
    const auto count = [&](const MachinePmus& machine) {
        int events = 0;
        for (int index = -1; (index = next_event(machine, perf, index)) >= 0;) ++events;
        return events;
    };
    const int before = count(without);
    EXPECT_EQ(count(with), before + 2);
    EXPECT_EQ(event_at(with, perf, static_cast<std::uint32_t>(before + 2)), nullptr);
    std::string names;
    for (int index = before; index < before + 2; ++index) {
        const EventRow& event = *event_at(with, perf, static_cast<std::uint32_t>(index));
        names += std::string{name_of(event)} + (event.masks == 2 ? " 2 " : " ");
        const Found found = find_event(with, perf, name_of(event), name_hash(name_of(event)));
        EXPECT_EQ(found.private_index, static_cast<std::uint32_t>(index));
    }
    EXPECT_TRUE(names == "sched 2 syscalls " || names == "syscalls sched 2 ") << names;
}

TEST_F(Tracepoints, AreAbsentIfNothingIsMountedOrNotRequested) {
    EXPECT_EQ(encoded(machine(), "perf::sched:sched_switch").code, ErrorCode::not_found);
    mount(kDebugfs, "/d/tracing/events");
    EXPECT_EQ(encoded(machine(false), "perf::sched:sched_switch").code, ErrorCode::not_found);
}

}  // namespace
}  // namespace anyperf::catalog
