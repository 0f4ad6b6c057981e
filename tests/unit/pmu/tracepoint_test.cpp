// tracepoint_test.cpp: the tracepoints of the virtual machine, the rights that they need, and the files in tracefs that
// describe them.
#include "pmu/tracing/tracepoint_pmu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "pmu/tracing/tracefs_files.h"
#include "unit/pmu/pmu_request.h"

namespace anyperf::pmu {
namespace {

using OccurrenceKind = subsystem::Source::OccurrenceKind;
using testing::asked;
using testing::RefusedWith;

const Tracepoint& named(TracepointPmu& pmu, std::string_view system, std::string_view name) {
    return *std::ranges::find_if(pmu.all_tracepoints(),
                                 [&](const Tracepoint& t) { return t.system == system && t.name == name; });
}

abi::Attr attr_of(const Tracepoint& tracepoint, std::uint64_t sample_type = 0, std::uint64_t flags = 0) {
    return {.type = abi::kTypeTracepoint, .config = tracepoint.id, .sample_type = sample_type, .flags = flags};
}

TEST(Tracepoints, HaveUniqueIdsOf16Bits) {
    std::set<std::uint32_t> ids;
    for (const Tracepoint& tracepoint : tracepoints()) {
        EXPECT_LT(tracepoint.id, 65536u);
        EXPECT_TRUE(ids.insert(tracepoint.id).second) << tracepoint.name;
    }
    EXPECT_GT(ids.size(), 700u);
}

TEST(Tracepoints, UseTheMachinesIdsIfItHasThem) {
    const auto all = tracepoints([](std::string_view system, std::string_view name) -> std::optional<std::uint32_t> {
        if (system == "syscalls" && name == "sys_enter_openat") return 782;
        return std::nullopt;
    });
    const auto openat = std::ranges::find(all, "sys_enter_openat", &Tracepoint::name);
    EXPECT_EQ(openat->id, 782u);
    EXPECT_EQ(openat->source.number, 257u);
    EXPECT_EQ(openat->source.syscall_arguments, 4u);
}

TEST(Tracepoints, AreOpenedByTheirId) {
    TracepointPmu pmu;
    const auto wiring = asked(pmu, attr_of(named(pmu, "raw_syscalls", "sys_enter")));
    ASSERT_TRUE(wiring);
    EXPECT_EQ(wiring->source.occurrence_kind, OccurrenceKind::syscall_entered);
    EXPECT_TRUE(wiring->software);
    EXPECT_TRUE(wiring->monotonic_only);
    EXPECT_THAT(asked(pmu, {.type = abi::kTypeTracepoint, .config = 0}), RefusedWith(EINVAL));
    EXPECT_THAT(asked(pmu, {.type = abi::kTypeTracepoint, .config = 1ull << 40}), RefusedWith(EINVAL));
    EXPECT_THAT(asked(pmu, {.type = abi::kTypeSoftware, .config = 0}), RefusedWith(ENOENT)) << "another type";
}

TEST(Tracepoints, OfKernelModeCountNothingIfTheKernelIsExcluded) {
    TracepointPmu pmu;
    const std::uint64_t user = abi::flag("exclude_kernel");
    EXPECT_EQ(asked(pmu, attr_of(named(pmu, "raw_syscalls", "sys_exit"), 0, user))->source.kind,
              subsystem::Source::Kind::nothing);
    EXPECT_EQ(asked(pmu, attr_of(named(pmu, "syscalls", "sys_exit_read"), 0, user))->source.kind,
              subsystem::Source::Kind::occurrences);
}

TEST(RawData, OfTheCallersOwnSystemCallsNeedsNoPrivilege) {
    TracepointPmu pmu;
    const std::uint64_t raw = abi::sample("PERF_SAMPLE_RAW");
    EXPECT_TRUE(asked(pmu, attr_of(named(pmu, "syscalls", "sys_enter_read"), raw)));
    EXPECT_THAT(asked(pmu, attr_of(named(pmu, "syscalls", "sys_enter_read"), raw), false), RefusedWith(EPERM));
    EXPECT_THAT(asked(pmu, attr_of(named(pmu, "sched", "sched_process_exec"), raw)), RefusedWith(EPERM));
    EXPECT_TRUE(asked(pmu, attr_of(named(pmu, "sched", "sched_process_exec"))));
}

TEST(TraceFiles, HaveTheIdAndTheFormatOfEachTracepoint) {
    TracepointPmu pmu;
    const VirtualTree tree = trace_files(pmu.all_tracepoints());
    const auto content = [&](std::string_view path) {
        const auto file = std::ranges::find(tree.files, path, &VirtualFile::path);
        return file == tree.files.end() ? "" : file->content;
    };
    const Tracepoint& close = named(pmu, "syscalls", "sys_enter_close");
    EXPECT_EQ(content("/sys/kernel/tracing/events/syscalls/sys_enter_close/id"), std::to_string(close.id) + "\n");
    EXPECT_EQ(content("/sys/kernel/tracing/events/syscalls/sys_enter_close/format"),
              "name: sys_enter_close\nID: " + std::to_string(close.id) +
                  "\nformat:\n"
                  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                  "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                  "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                  "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
                  "\tfield:unsigned int fd;\toffset:16;\tsize:8;\tsigned:0;\n\n"
                  "print fmt: \"fd: 0x%08lx\", ((unsigned long)(REC->fd))\n");
}

}  // namespace
}  // namespace anyperf::pmu
