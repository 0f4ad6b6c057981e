// modifiers_test.cpp: which flags of attr the modifiers of an event set. The expected values are those that perf 6.1
// prints with `perf stat -vv -e EVENT`.
#include "events/syntax/modifiers.h"

#include "abi/attr_flags.h"
#include "machines.h"

namespace anyperf::events {
namespace {

/// The names of the flags that are set, in the order of their bits.
std::string flags_of(const abi::Attr& attr) {
    std::string names;
    for (const abi::AttrFlag& row : abi::kAttrFlags) {
        const std::uint64_t value = (attr.flags & row.mask()) >> row.bit;
        if (value == 0) continue;
        names += (names.empty() ? "" : " ") + std::string{row.name};
        if (row.width > 1) names += '=' + std::to_string(value);
    }
    return names;
}

TEST(Modifiers, ExcludeWhatPerfExcludes) {
    const Machine vm = machine("vm-without-pmu");
    for (const auto& [text, flags] : {
             std::pair{"cycles", "exclude_guest"},
             std::pair{"cycles:u", "exclude_kernel exclude_hv exclude_guest"},
             std::pair{"cycles:k", "exclude_user exclude_hv"},
             std::pair{"cycles:h", "exclude_user exclude_kernel"},
             std::pair{"cycles:uk", "exclude_hv exclude_guest"},
             std::pair{"cycles:ukh", "exclude_guest"},
             std::pair{"cycles:G", "exclude_host"},
             std::pair{"cycles:H", "exclude_guest"},
             std::pair{"cycles:GH", ""},
             std::pair{"cycles:uG", "exclude_kernel exclude_hv exclude_host"},
             std::pair{"cycles:Gu", "exclude_kernel exclude_hv exclude_host"},
             std::pair{"cycles:p", "precise_ip=1 exclude_guest"},
             std::pair{"cycles:upp", "exclude_kernel exclude_hv precise_ip=2 exclude_guest"},
             std::pair{"cycles:ppp", "precise_ip=3 exclude_guest"},
             std::pair{"cycles:P", "precise_ip=3"},
             std::pair{"cycles:I", "exclude_idle"},
             std::pair{"cycles:D", "pinned"},
             std::pair{"cycles:e", "exclusive"},
             std::pair{"cycles:S", ""},
         })
        EXPECT_EQ(flags_of(event_of(vm, text).attr), flags) << text;
}

TEST(Modifiers, OfAGroupAddToThoseOfItsEvents) {
    const Machine vm = machine("vm-without-pmu");
    const auto events = events_of(vm, "{cs,faults:k}:uS");
    ASSERT_EQ(events.size(), 2);
    EXPECT_EQ(flags_of(events[0].attr), "exclude_kernel exclude_hv exclude_guest");
    EXPECT_EQ(flags_of(events[1].attr), "exclude_hv exclude_guest");
    EXPECT_TRUE(events[0].sample_read);
    EXPECT_TRUE(events[1].sample_read);
}

TEST(Modifiers, OfAGroupKeepWhichHostsItsEventsCount) {
    const Machine vm = machine("vm-without-pmu");
    for (const auto& [text, flags] : {
             std::pair{"{cycles:GH}:u", "exclude_kernel exclude_hv"},
             std::pair{"{cycles:G}:u", "exclude_kernel exclude_hv exclude_host"},
             std::pair{"{cycles:H}:u", "exclude_kernel exclude_hv exclude_guest"},
             std::pair{"{cycles:S}:u", "exclude_kernel exclude_hv exclude_guest"},
             std::pair{"{cycles}:u", "exclude_kernel exclude_hv exclude_guest"},
         })
        EXPECT_EQ(flags_of(event_of(vm, text).attr), flags) << text;
}

TEST(Modifiers, PinOnlyTheLeaderOfAGroup) {
    const auto events = events_of(machine("vm-without-pmu"), "{cs,faults}:De");
    EXPECT_EQ(flags_of(events[0].attr), "pinned exclusive exclude_guest");
    EXPECT_EQ(flags_of(events[1].attr), "exclude_guest");
}

TEST(Modifiers, ForMaximumPrecisionAskForWhatThePmuSupports) {
    EXPECT_EQ(flags_of(event_of(machine("intel-skylake-server"), "cycles:P").attr), "precise_ip=3");
    EXPECT_EQ(flags_of(event_of(machine("amd-zen"), "cycles:P").attr), "");
    EXPECT_TRUE(event_of(machine("amd-zen"), "cycles:P").precise_max);
}

TEST(Modifiers, TheNameOfAnEventInUserModeEndsWithU) {
    for (const auto& [name, restricted] : {
             std::pair{"cycles", "cycles:u"},
             std::pair{"cycles:p", "cycles:pu"},
             std::pair{"cpu/cycles/", "cpu/cycles/u"},
             std::pair{"INST_RETIRED:ANY_P", "INST_RETIRED:ANY_P:u"},
             std::pair{"l2_rqsts:miss", "l2_rqsts:miss:u"},
         }) {
        Event event;
        event.name = name;
        EXPECT_EQ(user_mode_name(event), restricted);
    }
}

TEST(Modifiers, ThatAreInvalidAreNamed) {
    const Machine vm = machine("vm-without-pmu");
    EXPECT_EQ(error_of(vm, "cycles:uz").cause, "'z' is not a modifier");
    EXPECT_EQ(error_of(vm, "cycles:uu").cause, "a modifier is given twice (only p may be, up to three times)");
    EXPECT_EQ(error_of(vm, "cycles:").cause, "a modifier is missing after the ':'");
    EXPECT_EQ(error_of(vm, "cycles:u:k").cause, "modifiers are given twice");
    EXPECT_EQ(error_of(vm, "{cs,faults:D}").fix, "write the modifier after the group: {…}:D");
}

}  // namespace
}  // namespace anyperf::events
