// parse_test.cpp: groups, tracepoints and breakpoints in event strings, and which part of a string an error marks.
#include "machines.h"

namespace anyperf::events {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::size_t> group_sizes(const Machine& where, std::string_view text) {
    std::vector<std::size_t> sizes;
    const auto groups = parse(where, text);
    if (groups)
        for (const EventGroup& group : *groups) sizes.push_back(group.events.size());
    return sizes;
}

TEST(Groups, AreBracesAndSingleEvents) {
    const Machine vm = machine("vm-without-pmu");
    EXPECT_THAT(group_sizes(vm, "cs,{cycles,instructions}:W,faults, {cs} , x:{cs,faults}"), ElementsAre(1, 2, 1, 1, 2));
    const auto groups = parse(vm, "cs,{cycles,instructions}:W,x:{cs}");
    EXPECT_FALSE((*groups)[0].braces);
    EXPECT_TRUE((*groups)[1].braces);
    EXPECT_TRUE((*groups)[1].weak);
    EXPECT_EQ((*groups)[2].name, "x");
}

TEST(Groups, HaveNoLimitOfNumberOrSize) {
    const Machine server = machine("intel-skylake-server");
    constexpr std::size_t kMany = 300;
    std::string events;
    std::string terms;
    for (std::size_t i = 0; i < kMany; ++i) {
        events += (events.empty() ? "" : ",") + std::string{"cpu/event=0xc0,umask=1,cmask=2,inv,edge,name=e"} +
                  std::to_string(i) + "/u";
        terms += ",@driver" + std::to_string(i) + "=1";
    }
    EXPECT_EQ(group_sizes(server, events), std::vector<std::size_t>(kMany, 1));
    const auto one = events_of(server, "{" + events + "}:k");
    ASSERT_EQ(one.size(), kMany);
    for (std::size_t i = 0; i < kMany; ++i) EXPECT_EQ(one[i].name, "e" + std::to_string(i));
    EXPECT_EQ(event_of(server, "cpu/event=0xc0" + terms + "/").sampling.driver_config.size(), kMany);
}

TEST(Groups, OfHybridMachinesAreOneForEachKindOfCore) {
    const Machine hybrid = machine("intel-hybrid");
    EXPECT_THAT(
        names_of(hybrid, "{cycles,cs,instructions}"),
        ElementsAre("cpu_atom/cycles/", "cs", "cpu_atom/instructions/", "cpu_core/cycles/", "cpu_core/instructions/"));
    EXPECT_THAT(group_sizes(hybrid, "{cycles,cs,instructions}"), ElementsAre(3, 2));
    EXPECT_THAT(group_sizes(machine("intel-skylake-server"), "{imc/cas_count_read/,imc/cas_count_write/}"),
                ElementsAre(2, 2, 2));
}

TEST(Groups, DoNotMixPmus) {
    const Error error = error_of(machine("intel-hybrid"), "{cpu_core/cycles/,cpu_atom/cycles/}");
    EXPECT_THAT(error.cause, HasSubstr("the kernel schedules a group on one PMU"));
    EXPECT_THAT(error_of(machine("intel-hybrid"), "{energy-pkg,slots}").cause, HasSubstr("one PMU"));
}

TEST(Tracepoints, AreFoundByNameAndByPattern) {
    const Machine hybrid = machine("intel-hybrid");
    const Event one = event_of(hybrid, "sched:sched_switch:u");
    EXPECT_EQ(one.attr.type, 2);
    EXPECT_EQ(one.attr.config, 314);
    EXPECT_EQ(one.name, "sched:sched_switch:u");
    EXPECT_EQ(event_of(hybrid, "perf::sched:sched_switch:u").attr.config, one.attr.config);
    EXPECT_EQ(event_of(hybrid, "perf::sched:sched_switch:u").attr.flags, one.attr.flags);
    EXPECT_THAT(names_of(hybrid, "syscalls:*read"), ElementsAre("syscalls:sys_enter_read", "syscalls:sys_exit_read"));
    EXPECT_THAT(names_of(hybrid, "sched*:*"), ElementsAre("sched:sched_switch", "sched:sched_wakeup"));
    EXPECT_EQ(event_of(hybrid, "raw_syscalls:sys_enter/call-graph=fp/").sampling.call_graph, "fp");
}

TEST(Tracepoints, ThatDoNotExistAreExplained) {
    const Machine hybrid = machine("intel-hybrid");
    EXPECT_EQ(error_of(hybrid, "sched:sched_swich").fix, "did you mean 'sched_switch'?");
    EXPECT_EQ(error_of(hybrid, "shed:sched_switch").fix, "did you mean 'sched'?");
    EXPECT_EQ(error_of(hybrid, "sched:nothing*").cause, "no tracepoint matches the pattern");
    EXPECT_EQ(error_of(hybrid, "{sched:*:D}").fix, "write the modifier after the group: {…}:D");
    const Error error = error_of(machine("vm-without-pmu"), "sched:sched_switch");
    EXPECT_THAT(error.cause, HasSubstr("tracefs is mounted neither at"));
    EXPECT_THAT(error.fix, HasSubstr("mount -t tracefs"));
}

TEST(Breakpoints, HaveAnAddressALengthAndAccesses) {
    const Machine vm = machine("vm-without-pmu");
    struct Row {
        std::string_view text;
        std::uint32_t type;
        std::uint64_t address;
        std::uint64_t bytes;
    };
    for (const Row& row : {
             Row{"mem:0x1000", 3, 0x1000, 4},
             Row{"mem:0x1000:w", 2, 0x1000, 4},
             Row{"mem:0x1000/8:rw:u", 3, 0x1000, 8},
             Row{"mem:0x1001/1:r", 1, 0x1001, 1},
             Row{"mem:0x1003:x", 4, 0x1003, 8},
             Row{"mem:4096/2:u", 3, 0x1000, 2},
         }) {
        const Event event = event_of(vm, row.text);
        EXPECT_EQ(event.attr.type, 5);
        EXPECT_EQ(event.attr.bp_type, row.type) << row.text;
        EXPECT_EQ(event.attr.config1, row.address) << row.text;
        EXPECT_EQ(event.attr.config2, row.bytes) << row.text;
    }
}

TEST(Breakpoints, ThatTheHardwareDoesNotSupportAreRefused) {
    const Machine vm = machine("vm-without-pmu");
    EXPECT_EQ(error_of(vm, "mem:0x1000/3").fix, "use 1, 2, 4 or 8 (bytes)");
    EXPECT_EQ(error_of(vm, "mem:0x1000:rx").cause, "one breakpoint can't watch both execution and data");
    EXPECT_EQ(error_of(vm, "mem:0x1001").cause, "the address is not a multiple of the length, 4");
    EXPECT_EQ(error_of(vm, "mem:0x1000:q").cause, "'q' is not a kind of access");
    EXPECT_EQ(error_of(vm, "mem:main").cause, "a breakpoint needs an address, as in mem:0x401000:x");
}

TEST(Errors, MarkTheWrongPart) {
    const Machine vm = machine("vm-without-pmu");
    for (const auto& [text, mark, cause] : {
             std::tuple{"cycles,cycels", "       ^~~~~~", "no event is called 'cycels'"},
             std::tuple{"", "^", "an event name is missing here"},
             std::tuple{"cs,", "   ^", "an event name is missing here"},
             std::tuple{"cs,,cs", "   ^", "an event name is missing here"},
             std::tuple{"{cs,faults", "^~~~~~~~~~", "the '}' that ends the group is missing"},
             std::tuple{"{cs,{cs}}", "    ^", "a group can't contain a group"},
             std::tuple{"cs}", "  ^", "',' was expected between two events"},
             std::tuple{"cycles/period=1", "      ^~~~~~~~~", "the '/' that ends the terms is missing"},
             std::tuple{"cycles/period=/", "       ^~~~~~~", "the term has no value after its '='"},
             std::tuple{"cycles/name='x/", "            ^~~", "the quote is not closed"},
             std::tuple{"cycles/,period=1/", "       ^", "a term is missing here"},
         }) {
        const Error error = error_of(vm, text);
        EXPECT_EQ(error.what, std::string{"cannot use the event string\n    "} + text + "\n    " + mark) << text;
        EXPECT_EQ(error.cause, cause) << text;
    }
    EXPECT_EQ(error_of(vm, "cycels").fix, "did you mean 'cycles'?");
    EXPECT_THAT(error_of(vm, "duration_time").cause, HasSubstr("only `anyperf stat` measures it"));
}

TEST(Errors, ShowControlCharactersAsQuestionMarks) {
    EXPECT_THAT(error_of(machine("vm-without-pmu"), "\x1b[2J").what, HasSubstr("\n    ?[2J\n"));
}

}  // namespace
}  // namespace anyperf::events
