// open_failure_einval_test.cpp: EINVAL has many possible causes; the message names the one that applies. Each call is
// made on the running kernel, which must refuse it with EINVAL.
#include <gmock/gmock.h>
#include <unistd.h>

#include <string>

#include "host/child.h"
#include "host/kernel/sysctl.h"

namespace anyperf::host {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t kInherit = 1ull << 1;
constexpr std::uint64_t kPinned = 1ull << 2;

struct Case {
    const char* name;
    void (*invalidate)(OpenCall&);
    const char* cause;
};

class Einval : public testing::TestWithParam<Case> {};

TEST_P(Einval, NamesTheCause) {
    OpenCall call = dummy();
    GetParam().invalidate(call);
    EXPECT_THAT(open_failure(call), AllOf(StartsWith("EINVAL"), HasSubstr(GetParam().cause)));
}

constexpr Case kCases[] = {
    {"UnknownSampleBit", [](OpenCall& c) { c.attr.sample_type = 1ull << 40; }, "sample_type bits 0x10000000000"},
    {"UnknownFormatBit", [](OpenCall& c) { c.attr.read_format = 1 << 9; }, "read_format bits 0x200"},
    {"UnknownFlag", [](OpenCall& c) { c.attr.flags |= 1ull << 60; }, "attr bits 0x1000000000000000"},
    {"ReservedField", [](OpenCall& c) { c.attr.reserved_2 = 1; }, "attr.reserved_2 (0x1)"},
    {"BadRegisters", [](OpenCall& c) { c.attr.sample_type = 1 << 12, c.attr.sample_regs_user = 1 << 12; },
     "PERF_SAMPLE_REGS_USER"},
    {"BadClock", [](OpenCall& c) { c.attr.flags |= 1 << 25, c.attr.clockid = 2; }, "attr.clockid"},
    {"OpenFlags", [](OpenCall& c) { c.flags = 64; }, "flags 0x40"},
    {"NeitherProcessNorCpu", [](OpenCall& c) { c.pid = -1; }, "neither a process nor a CPU"},
    {"CpuBeyondTheLast", [](OpenCall& c) { c.cpu = 60000; }, "there is no CPU 60000"},
    {"SampleRate", [](OpenCall& c) { c.attr.flags |= 1 << 10, c.attr.sample_period = 1ull << 40; },
     "perf_event_max_sample_rate is"},
    {"NegativePeriod", [](OpenCall& c) { c.attr.sample_period = 1ull << 63; }, "bit 63"},
    {"BothWeights", [](OpenCall& c) { c.attr.sample_type = 1 << 14 | 1 << 24; }, "PERF_SAMPLE_WEIGHT_STRUCT"},
    {"SigtrapWithoutRemove", [](OpenCall& c) { c.attr.flags |= 1ull << 37; }, "attr.remove_on_exec"},
    {"StackSize", [](OpenCall& c) { c.attr.sample_type = 1 << 13, c.attr.sample_stack_user = 12; }, "multiple of 8"},
    {"TracepointId", [](OpenCall& c) { c.attr.type = 2, c.attr.config = 1 << 30; }, "no tracepoint with id 1073741824"},
    {"BreakpointLength", [](OpenCall& c) { c.attr.type = 5, c.attr.bp_type = 2, c.attr.config2 = 3; }, "bp_len is 3"},
    {"BreakpointAlignment",
     [](OpenCall& c) { c.attr.type = 5, c.attr.bp_type = 2, c.attr.config1 = 0x1001, c.attr.config2 = 8; },
     "not a multiple of its length"},
    {"BreakpointRead", [](OpenCall& c) { c.attr.type = 5, c.attr.bp_type = 1, c.attr.config2 = 8; }, "reads alone"},
};

INSTANTIATE_TEST_SUITE_P(All, Einval, testing::ValuesIn(kCases), [](const auto& test) { return test.param.name; });

TEST(EinvalOfTwoFields, NamesBoth) {
    OpenCall call = dummy();
    call.attr.sample_type = 1 << 4;  // READ without TID, with inherit
    call.attr.flags |= kInherit;
    EXPECT_THAT(open_failure(call), AllOf(StartsWith("EINVAL"), HasSubstr("inherit with PERF_SAMPLE_READ")));
}

/// Opens a member of a group that differs from its leader in one property.
class EinvalInAGroup : public testing::Test {
  public:
    ~EinvalInAGroup() override { ::close(leader_); }

  protected:
    std::string member(void (*invalidate)(OpenCall&)) const {
        OpenCall call = dummy();
        call.group_fd = leader_;
        invalidate(call);
        return open_failure(call);
    }
    int leader_ = open_event(dummy());
};

TEST_F(EinvalInAGroup, PinnedIsForLeadersOnly) {
    EXPECT_THAT(member([](OpenCall& call) { call.attr.flags |= kPinned; }),
                HasSubstr("only a group leader may have attr.pinned"));
}

TEST_F(EinvalInAGroup, InheritMustMatchTheLeader) {
    EXPECT_THAT(member([](OpenCall& call) { call.attr.flags |= kInherit; }), HasSubstr("attr.inherit differs"));
}

TEST_F(EinvalInAGroup, ClockMustMatchTheLeader) {
    EXPECT_THAT(member([](OpenCall& call) { call.attr.flags |= 1 << 25, call.attr.clockid = 1; }),
                HasSubstr("different clocks"));
}

TEST_F(EinvalInAGroup, CpuMustMatchTheLeader) {
    EXPECT_THAT(member([](OpenCall& call) { call.cpu = 0; }), HasSubstr("the leader is on any CPU"));
}

TEST_F(EinvalInAGroup, MemberCannotLead) {
    OpenCall call = dummy();
    call.group_fd = leader_;
    const int sibling = open_event(call);
    ASSERT_GE(sibling, 0);
    call.group_fd = sibling;
    EXPECT_THAT(open_failure(call), HasSubstr("the leader is itself a member of a group"));
    ::close(sibling);
}

}  // namespace
}  // namespace anyperf::host
