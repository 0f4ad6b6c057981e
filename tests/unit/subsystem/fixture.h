// fixture.h: a Subsystem on the fakes with one task, and short names for the calls of a client.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "abi/attr_flags.h"
#include "abi/ioctls.h"
#include "abi/sample_bits.h"
#include "subsystem/subsystem.h"
#include "unit/subsystem/fake_host.h"
#include "unit/subsystem/fake_pmu.h"

namespace anyperf::subsystem {

using abi::Attr;
using abi::flag;
using abi::read_format;
using testing::ElementsAre;

constexpr std::uint64_t kUserOnly = flag("exclude_kernel");
constexpr std::uint64_t kDisabled = flag("disabled");
constexpr auto kGroup = read_format("PERF_FORMAT_GROUP");
constexpr std::uint64_t kTimes =
    read_format("PERF_FORMAT_TOTAL_TIME_ENABLED") | read_format("PERF_FORMAT_TOTAL_TIME_RUNNING");

/// An answer that is refused with this errno.
MATCHER_P(RefusedWith, error, std::string("is refused with ") + strerrorname_np(error)) {
    if (arg) {
        *result_listener << "was not refused";
        return false;
    }
    *result_listener << "was " << strerrorname_np(arg.error().error) << ": " << arg.error().reason;
    return arg.error().error == error;
}
/// An answer that is not refused; otherwise shows errno and reason.
MATCHER(Succeeds, "") {
    if (!arg) *result_listener << strerrorname_np(arg.error().error) << ": " << arg.error().reason;
    return arg.has_value();
}

/// An attr for counter `counter` of the fake cpu PMU, in user mode.
inline Attr counting(std::uint32_t counter = 0, std::uint64_t flags = 0) {
    Attr attr;
    attr.type = abi::kTypeRaw;
    attr.size = 136;
    attr.config = counter;
    attr.flags = kUserOnly | flags;
    return attr;
}
/// An attr for an event of the fake software PMU, in user mode.
inline Attr software(std::uint64_t config, std::uint64_t flags = 0) {
    Attr attr = counting(0, flags);
    attr.type = abi::kTypeSoftware;
    attr.config = config;
    return attr;
}
inline Attr with_format(Attr attr, std::uint64_t format) {
    attr.read_format = format;
    return attr;
}
inline Attr with_period(Attr attr, std::uint64_t period) {
    attr.sample_period = period;
    return attr;
}

class SubsystemTest : public testing::Test {
  protected:
    /// The arguments of an open besides attr; by default the caller's task, on any CPU, without a group.
    struct Where {
        std::int32_t pid = 0;
        std::int32_t cpu = -1;
        std::optional<EventIndex> group = std::nullopt;
        std::uint64_t flags = 0;
    };

    Answer<EventIndex> try_open(const Attr& attr, const Where& where) {
        return subsystem.open({.caller = me.name,
                               .attr = std::as_bytes(std::span(&attr, 1)),
                               .pid = where.pid,
                               .cpu = where.cpu,
                               .group = {.none = !where.group, .event = where.group, .open = where.group.has_value()},
                               .flags = where.flags});
    }
    Answer<EventIndex> try_open(const Attr& attr) { return try_open(attr, {}); }
    /// Opens an event for another caller than `me`.
    EventIndex open_as(const FakeTask& caller, const Attr& attr, std::int32_t pid) {
        const auto event =
            subsystem.open({.caller = caller.name, .attr = std::as_bytes(std::span(&attr, 1)), .pid = pid});
        EXPECT_THAT(event, Succeeds());
        return event.value_or(0);
    }
    EventIndex open(const Attr& attr, const Where& where) {
        const auto event = try_open(attr, where);
        EXPECT_THAT(event, Succeeds());
        return event.value_or(0);
    }
    EventIndex open(const Attr& attr) { return open(attr, {}); }
    EventIndex open_sibling(const Attr& attr, EventIndex leader) { return open(attr, {.group = leader}); }

    std::vector<std::uint64_t> read(EventIndex event) {
        auto words = subsystem.read(event, 1 << 16);
        EXPECT_THAT(words, Succeeds());
        return words.value_or(std::vector<std::uint64_t>{});
    }
    std::uint64_t count(EventIndex event) { return read(event).at(0); }

    Answer<IoctlAnswer> ioctl(EventIndex event, std::string_view name, const IoctlArgument& argument) {
        const auto row = std::ranges::find(abi::kIoctls, name, &abi::Ioctl::name);
        return subsystem.ioctl(me.name, event, row->request, argument);
    }
    Answer<IoctlAnswer> ioctl(EventIndex event, std::string_view name, std::uint64_t word = 0) {
        return ioctl(event, name, IoctlArgument{.word = word});
    }
    /// An ioctl whose argument points to `value`.
    Answer<IoctlAnswer> ioctl_u64(EventIndex event, std::string_view name, std::uint64_t value) {
        return ioctl(event, name, IoctlArgument{.word = 1, .bytes = std::as_bytes(std::span(&value, 1))});
    }
    void enable(EventIndex event, std::uint64_t word = 0) {
        EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_ENABLE", word), Succeeds());
    }
    void disable(EventIndex event, std::uint64_t word = 0) {
        EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_DISABLE", word), Succeeds());
    }
    void reset(EventIndex event, std::uint64_t word = 0) {
        EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_RESET", word), Succeeds());
    }
    EventPage& page(EventIndex event) { return host.event_page(event); }

    FakeTask& fork(FakeTask& parent, std::int32_t pid, ForkKind kind = ForkKind::process) {
        FakeTask& child = kind == ForkKind::thread ? host.start(parent.name.pid, pid) : host.start(pid);
        child.cpu = parent.cpu;
        subsystem.task_forked(parent.name, child.name, kind);
        return child;
    }
    void exit(FakeTask& task) {
        subsystem.task_exit(task.name);
        task.alive = false;
    }
    void move(FakeTask& task, std::int32_t to) {
        task.cpu = to;
        subsystem.task_moved(task.name, to);
    }

    FakeHost host;
    FakeCpuPmu cpu;
    FakeSoftwarePmu software_pmu;
    Subsystem subsystem{host, {&software_pmu, &cpu}};
    FakeTask& me = host.start(100);
};

}  // namespace anyperf::subsystem
