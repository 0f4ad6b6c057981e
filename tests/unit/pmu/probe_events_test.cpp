// probe_events_test.cpp: lines written to uprobe_events define tracepoints. The expected format files and errnos are
// those of Linux 6.18.
#include "pmu/tracing/probe_events.h"

#include <gtest/gtest.h>

#include <array>

#include "unit/pmu/pmu_request.h"

namespace anyperf::pmu {
namespace {

using subsystem::ProbeValue;
using ::testing::HasSubstr;
using testing::RefusedWith;

TEST(ProbeDefinition, HasAPlaceNamesAndArguments) {
    const auto made = parse_probe("r:own/out /bin/x:0x10(0x20) r=$retval:s32 t=+8(-0x10(%di)):string \\7");
    ASSERT_TRUE(made);
    EXPECT_EQ(made->kind, ProbeDefinition::Kind::uretprobe);
    EXPECT_EQ(made->path, "/bin/x");
    EXPECT_EQ(made->offset, 0x10U);
    EXPECT_EQ(made->reference_counter_offset, 0x20U);
    ASSERT_EQ(made->arguments.size(), 3U);
    const ProbeValue& text = made->arguments[1].value;
    EXPECT_EQ(text.steps, 2);
    EXPECT_EQ(text.step[0], -0x10) << "the innermost dereference comes first";
    EXPECT_EQ(text.step[1], 8);
    EXPECT_EQ(text.offset, 28) << "after two addresses and 32 bits";
    EXPECT_EQ(made->arguments[2].name, "arg3");
    EXPECT_EQ(record_of(*made).bytes, 40);
    EXPECT_EQ(probe_text(*made),
              "r:own/out /bin/x:0x0000000000000010(0x20) r=$retval:s32 t=+8(-0x10(%di)):string arg3=\\7\n");
}

TEST(ProbeDefinition, GetsANameIfNoneIsGiven) {
    const auto made = parse_probe("p /lib/libc.so.6:4096");
    ASSERT_TRUE(made);
    EXPECT_EQ(made->system + "/" + made->name, "uprobes/p_libc_0x1000");
}

TEST(ProbeDefinition, IsFormattedAsByTheKernel) {
    const std::string text = format_text(tracepoint_of(*parse_probe("p:a/b /x:0 n=%di:s32 s=+0(%si):string u=%ax")));
    EXPECT_THAT(text, HasSubstr("\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
                                "\tfield:s32 n;\toffset:16;\tsize:4;\tsigned:1;\n"
                                "\tfield:__data_loc char[] s;\toffset:20;\tsize:4;\tsigned:1;\n"
                                "\tfield:u64 u;\toffset:24;\tsize:8;\tsigned:0;\n"
                                "\nprint fmt: \"(%lx) n=%d s=\\\"%s\\\" u=0x%Lx\", REC->__probe_ip, REC->n, "
                                "__get_str(s), REC->u\n"));
}

TEST(ProbeDefinition, IsRefusedIfItIsInvalid) {
    for (const char* line : {"", "x:a /x:0", "p:9/a /x:0", "p:a /x", "p:a /x:zz", "p:a :0", "p:a /x:0 =%ax",
                             "p:a /x:0 %zz", "p:a /x:0 %ax:u128", "p:a /x:0 %ax:string", "p:a /x:0 $retval",
                             "p:a /x:0 +0(%ax", "-", "p:a /x:0%exit", "p:a /x:0(8"})
        EXPECT_THAT(parse_probe(line), RefusedWith(EINVAL)) << line;
    std::string many = "p:a /x:0";
    for (int i = 0; i < 17; ++i) many += " %ax";
    EXPECT_THAT(parse_probe(many), RefusedWith(E2BIG));
}

// kstrtoul() and kstrtol() with base 0 of lib/kstrtox.c.
TEST(ProbeDefinition, NumbersAreThoseOfTheKernel) {
    const auto made = parse_probe("p:a/b /x:010(+0x20) +010(%di) -0X10(%di) \\-017 \\18446744073709551615 $stack010");
    ASSERT_TRUE(made);
    EXPECT_EQ(made->offset, 8U);
    EXPECT_EQ(made->reference_counter_offset, 0x20U);
    EXPECT_EQ(made->arguments[0].value.step[0], 8);
    EXPECT_EQ(made->arguments[1].value.step[0], -16);
    EXPECT_EQ(made->arguments[2].value.number, -15);
    EXPECT_EQ(made->arguments[3].value.number, -1);
    EXPECT_EQ(made->arguments[4].value.number, 10) << "kstrtoul() with base 10";
    for (const char* line : {"p:a /x:-8", "p:a /x:08", "p:a /x:0x", "p:a /x:0(-8)", "p:a /x:18446744073709551616",
                             "p:a /x:0 +9223372036854775808(%di)", "p:a /x:0 \\18446744073709551616"})
        EXPECT_THAT(parse_probe(line), RefusedWith(EINVAL)) << line;
}

TEST(ProbeDefinition, EachFieldOfARecordHasANameOfItsOwn) {
    for (const char* line : {"p:a /x:0 n=%ax n=%bx", "p:a /x:0 arg2=%ax %bx", "p:a /x:0 common_pid=%ax",
                             "p:a /x:0 __probe_ip=%ax", "r:a /x:0 __probe_func=%ax"})
        EXPECT_THAT(parse_probe(line), RefusedWith(EINVAL)) << line;
    EXPECT_TRUE(parse_probe("p:a /x:0 n=%ax m=%ax"));
}

class DefinedProbes : public ::testing::Test {
  protected:
    std::array<subsystem::Probe, 4> memory{};
    std::array<subsystem::ProbeRecord, 4> records{};
    ProbeTable places{memory};
    ProbeEvents events{places, records, [](const std::string& path) {
                           subsystem::ProbedFile file;
                           if (path != "/x") file.error = ENOENT;
                           file.name = {1, 2};
                           file.bytes = 100;
                           return file;
                       }};
};

TEST_F(DefinedProbes, CanBeAddedAndRemoved) {
    ASSERT_TRUE(events.define("p:a/b /x:4 %ax"));
    const std::uint32_t id = events.added().front().id;
    ASSERT_NE(events.find(id), nullptr);
    EXPECT_EQ(memory.at(events.find(id)->wiring.source.number).offset, 4U);
    EXPECT_EQ(records.at(events.find(id)->wiring.source.record).values, 1U);
    EXPECT_THAT(events.define("p:a/b /x:8"), RefusedWith(EEXIST));
    EXPECT_THAT(events.define("p:a/c /y:8"), RefusedWith(ENOENT));
    EXPECT_THAT(events.define("-:a/c"), RefusedWith(ENOENT));
    ASSERT_TRUE(events.define("-:a/b"));
    EXPECT_EQ(events.removed().front().name, "b");
    EXPECT_EQ(events.find(id), nullptr);
    EXPECT_EQ(events.text(), "");
}

TEST_F(DefinedProbes, CannotBeRemovedWhileTheyAreOpen) {
    ASSERT_TRUE(events.define("p:a/b /x:4"));
    events.add_user(events.added().front().id, 7);
    EXPECT_THAT(events.define("-:a/b"), RefusedWith(EBUSY));
    EXPECT_THAT(events.clear(), RefusedWith(EBUSY));
    events.remove_user(7);
    EXPECT_TRUE(events.clear());
}

}  // namespace
}  // namespace anyperf::pmu
