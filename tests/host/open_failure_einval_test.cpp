// open_failure_einval_test.cpp: EINVAL has a hundred reasons; the one that holds is named.
#include <gmock/gmock.h>
#include <unistd.h>

#include <string>

#include "host/child.h"
#include "host/sysctl.h"

namespace anyperf::host {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t kInherit = 1ull << 1;
constexpr std::uint64_t kPinned = 1ull << 2;

struct Case {
    const char* name;
    void (*spoil)(OpenCall&);
    const char* cause;
};

class Einval : public testing::TestWithParam<Case> {};

TEST_P(Einval, NamesWhatWasRefused) {
    OpenCall call = dummy();
    GetParam().spoil(call);
    EXPECT_THAT(explained(call), AllOf(StartsWith("EINVAL"), HasSubstr(GetParam().cause)));
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
    {"BreakpointRead", [](OpenCall& c) { c.attr.type = 5, c.attr.bp_type = 1, c.attr.config2 = 8; }, "reading alone"},
};

INSTANTIATE_TEST_SUITE_P(All, Einval, testing::ValuesIn(kCases), [](const auto& test) { return test.param.name; });

TEST(EinvalOfAPair, NamesBothFields) {
    OpenCall call = dummy();
    call.attr.sample_type = 1 << 4;  // READ without TID, with inherit
    call.attr.flags |= kInherit;
    EXPECT_THAT(explained(call), AllOf(StartsWith("EINVAL"), HasSubstr("inherit with PERF_SAMPLE_READ")));
}

/// A member that differs from its leader in one thing.
class EinvalInAGroup : public testing::Test {
  public:
    ~EinvalInAGroup() override { ::close(leader_); }

  protected:
    std::string member(void (*spoil)(OpenCall&)) const {
        OpenCall call = dummy();
        call.group_fd = leader_;
        spoil(call);
        return explained(call);
    }
    int leader_ = open_event(dummy());
};

TEST_F(EinvalInAGroup, PinnedIsForLeaders) {
    EXPECT_THAT(member([](OpenCall& call) { call.attr.flags |= kPinned; }),
                HasSubstr("attr.pinned is for group leaders"));
}

TEST_F(EinvalInAGroup, InheritMustBeTheSame) {
    EXPECT_THAT(member([](OpenCall& call) { call.attr.flags |= kInherit; }), HasSubstr("attr.inherit differs"));
}

TEST_F(EinvalInAGroup, ClockMustBeTheSame) {
    EXPECT_THAT(member([](OpenCall& call) { call.attr.flags |= 1 << 25, call.attr.clockid = 1; }),
                HasSubstr("different clocks"));
}

TEST_F(EinvalInAGroup, CpuMustBeTheSame) {
    EXPECT_THAT(member([](OpenCall& call) { call.cpu = 0; }), HasSubstr("the leader is on any CPU"));
}

TEST_F(EinvalInAGroup, AMemberCannotLead) {
    OpenCall call = dummy();
    call.group_fd = leader_;
    const int sibling = open_event(call);
    ASSERT_GE(sibling, 0);
    call.group_fd = sibling;
    EXPECT_THAT(explained(call), HasSubstr("the leader is itself a member of a group"));
    ::close(sibling);
}

}  // namespace
}  // namespace anyperf::host
