#include "exports/exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using namespace anyperf;
using testing::HasSubstr;
using testing::Not;

/// A program "demo" with main, f and g, and an address without a symbol.
class Exports : public testing::Test {
  protected:
    Exports() {
        dso_ = profile_.dsos.add({.path = text("/bin/demo"), .name = text("demo")});
        profile_.events.add({.name = "cpu-clock", .unit = {}});
        thread_ = profile_.contexts.add({.comm = text("de;mo"), .pid = 7, .tid = 7});
        main_ = location("main", 0x1004);
        f_ = location("f,\"x\"", 0x2008);
        g_ = location("g", 0x3000);
        bare_ = profile_.locations.add({.dso = dso_, .address = 0x4000, .file_offset = 0x4000});
        profile_.recording.first_ns = 1000;
    }

    profile::StringId text(std::string_view text) { return profile_.strings.intern(text); }

    profile::LocationId location(std::string_view name, std::uint64_t address) {
        const auto function =
            profile_.functions.add({.name = text(name), .dso = dso_, .address = address & ~std::uint64_t{0xfff}});
        profile_.all_frames.push_back({.function = function});
        return profile_.locations.add(
            {.dso = dso_, .address = address, .file_offset = address, .first_frame = function.value, .frame_count = 1});
    }

    profile::StackId stack(std::initializer_list<profile::LocationId> outermost_first) {
        profile::StackId at = profile::kNone<profile::StackId>;
        for (const profile::LocationId each : outermost_first) at = profile_.stacks.add({at, each});
        return at;
    }

    void sample(std::initializer_list<profile::LocationId> outermost_first, std::uint64_t weight,
                std::uint64_t time = 0) {
        profile_.samples.push_back({stack(outermost_first), thread_, 1, weight, time});
    }

    std::string write(std::string_view format) {
        return exports::format_named(format)->write(profile_, {.events = {profile::EventId{0}}, .version = "1"});
    }

    profile::Profile profile_;
    profile::DsoId dso_{};
    profile::ContextId thread_{};
    profile::LocationId main_{}, f_{}, g_{}, bare_{};
};

TEST_F(Exports, EveryFormatHasItsOwnName) {
    for (const exports::Format& format : exports::formats()) EXPECT_EQ(exports::format_named(format.name), &format);
    EXPECT_EQ(exports::format_named("svg"), nullptr);
}

TEST_F(Exports, AProfileWithoutSamplesIsWrittenInEveryFormat) {
    for (const exports::Format& format : exports::formats())
        EXPECT_TRUE(format.name == "folded" ? write(format.name).empty() : !write(format.name).empty()) << format.name;
}

TEST_F(Exports, FoldedAddsUpEqualStacksAndReplacesSeparators) {
    sample({main_, g_}, 2);
    sample({main_, g_}, 3);
    sample({main_, bare_}, 4);
    EXPECT_EQ(write("folded"), "de:mo;main;0x0000000000004000 4\nde:mo;main;g 5\n");
}

TEST_F(Exports, CsvQuotesNamesWithCommasAndQuotes) {
    sample({main_, f_}, 5);
    EXPECT_EQ(write("csv"),
              "event,comm,dso,symbol,samples,self,total\n"
              "cpu-clock,de;mo,demo,\"f,\"\"x\"\"\",1,5,5\n"
              "cpu-clock,de;mo,demo,main,0,0,5\n");
}

TEST_F(Exports, CallgrindHasCostsOfAddressesAndOfCalls) {
    sample({main_, g_}, 5);
    sample({main_}, 2);
    const std::string file = write("callgrind");
    EXPECT_THAT(file, HasSubstr("positions: instr line\nevents: cpu_clock\nsummary: 7\n"));
    EXPECT_THAT(file, HasSubstr("\nob=(1) /bin/demo\nfl=(1) ???\nfn=(1) main\n0x1004 0 2\n"
                                "cob=(1)\ncfi=(1)\ncfn=(2) g\ncalls=1 0x3000 0\n0x1004 0 5\n"));
    EXPECT_THAT(file, HasSubstr("\nob=(1)\nfl=(1)\nfn=(2)\n0x3000 0 5\n"));
    EXPECT_THAT(file, HasSubstr("\ntotals: 7\n"));
}

TEST_F(Exports, CallgrindHasOneLineForACommandLineAndForAName) {
    profile_.recording.command_line = "sh -c 'true\ntrue'";
    sample({location("a\nb", 0x5000)}, 1);
    const std::string file = write("callgrind");
    EXPECT_THAT(file, HasSubstr("\ncmd: sh -c 'true true'\n"));
    EXPECT_THAT(file, HasSubstr("\nfn=(1) a b\n"));
}

TEST_F(Exports, OtlpHasTheProcessIdOfTheIdleTask) {
    thread_ = profile_.contexts.add({.comm = text("swapper"), .pid = 0, .tid = 0});
    sample({main_}, 1);
    EXPECT_THAT(write("otlp"), HasSubstr(std::string{"\x12\x02\x18\x00", 4})) << "an AnyValue with int_value 0";
}

TEST_F(Exports, CallgrindCountsARecursionOnce) {
    sample({main_, g_, g_, g_}, 5);
    const std::string file = write("callgrind");
    EXPECT_THAT(file, HasSubstr("fn=(2)\n0x3000 0 5\n"));
    EXPECT_EQ(file.find("calls=1 0x3000"), file.rfind("calls=1 0x3000"));
}

TEST_F(Exports, ChromeMergesCallsOfSuccessiveSamplesAndClosesThemInGaps) {
    sample({main_, f_}, 1, 1000);
    sample({main_, g_}, 1, 2000);
    sample({main_, g_}, 1, 3000);
    sample({main_, g_}, 1, 90'000);
    const std::string file = write("chrome");
    EXPECT_THAT(file, HasSubstr(R"("name":"g","cat":"demo","pid":7,"tid":7,"ts":1,"dur":2})"));
    EXPECT_THAT(file, HasSubstr(R"("name":"main","cat":"demo","pid":7,"tid":7,"ts":0,"dur":3})"));
    EXPECT_THAT(file, HasSubstr(R"("name":"main","cat":"demo","pid":7,"tid":7,"ts":89,"dur":1})"));
}

TEST_F(Exports, SpeedscopeHasStacksFromTheOutside) {
    sample({main_, g_}, 5);
    const std::string file = write("speedscope");
    EXPECT_THAT(file, HasSubstr(R"("unit":"nanoseconds","startValue":0,"endValue":5,"samples":[[0,2]],"weights":[5])"));
}

TEST_F(Exports, FirefoxStacksNameTheirCallersBeforeThem) {
    sample({main_, g_}, 2'000'000, 1000);
    const std::string file = write("firefox");
    EXPECT_THAT(file, HasSubstr(R"("preprocessedProfileVersion":57)"));
    EXPECT_THAT(file, HasSubstr(R"("stackTable":{"length":2,"prefix":[null,0],"frame":[0,1]})"));
    EXPECT_THAT(file, HasSubstr(R"("weightType":"tracing-ms","stack":[1],"time":[0],"weight":[2])"));
}

TEST_F(Exports, OtherEventsAreLeftOut) {
    profile_.events.add({.name = "page-faults", .unit = {}});
    const auto other = profile_.contexts.add({.event = {1}, .comm = text("demo"), .pid = 7, .tid = 7});
    profile_.samples.push_back({stack({main_, f_}), other, 1, 9, 0});
    sample({g_}, 3);
    EXPECT_EQ(write("folded"), "de:mo;g 3\n");
    EXPECT_THAT(write("callgrind"), HasSubstr("summary: 3\n"));
    EXPECT_THAT(write("speedscope"), Not(HasSubstr("page-faults")));
}

}  // namespace
