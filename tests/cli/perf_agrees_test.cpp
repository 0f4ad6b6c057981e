// perf_agrees_test.cpp: for the same event string anyperf makes the perf_event_attr that perf makes, which is the
// oracle: `perf stat -vv` prints each attr, whether the kernel opens it or not. Only types of events that need no PMU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <map>
#include <sstream>

#include "abi/attr_flags.h"
#include "abi/describe.h"
#include "anyperf/event.h"

namespace anyperf::events {
namespace {

/// Fields that `stat` sets itself, in perf and in anyperf, and fields that perf 6.1 does not print.
constexpr std::array<std::string_view, 8> kNotOfTheEvent{
    "size", "disabled", "inherit", "enable_on_exec", "sample_type", "read_format", "sample_period", "sample_id_all"};

using Fields = std::map<std::string, std::uint64_t>;

bool belongs_to_event(std::string_view name) {
    return std::ranges::find(kNotOfTheEvent, name) == kNotOfTheEvent.end();
}

/// Adds one printed field: "  config                           0x3" or "  { bp_addr, config1 }  0x1000".
void add_field(const std::string& line, Fields& fields) {
    std::string text = line;
    for (char& c : text)
        if (c == '{' || c == '}' || c == ',') c = ' ';
    std::istringstream words{text};
    std::string name;
    std::string word;
    words >> name;
    while (words >> word)
        if (word.find_first_not_of("0123456789abcdefx") == std::string::npos && !word.empty() && std::isdigit(word[0]))
            if (belongs_to_event(name)) fields[name] = std::stoull(word, nullptr, 0);
}

/// The attrs that perf tried to open, in order. In later tries of an event perf drops exclude_guest and precise_ip.
std::vector<Fields> attrs_of_perf(const std::string& event) {
    std::vector<Fields> attrs;
    const std::string command = "perf stat -vv -e '" + event + "' true 2>&1";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 1024> line;
    bool inside = false;
    while (pipe && std::fgets(line.data(), line.size(), pipe)) {
        const std::string text{line.data()};
        if (text.starts_with("perf_event_attr:")) {
            attrs.emplace_back();
            inside = true;
        } else if (text.starts_with("---")) {
            inside = false;
        } else if (inside) {
            add_field(text, attrs.back());
        }
    }
    if (pipe) ::pclose(pipe);
    return attrs;
}

Fields attr_of_anyperf(const Event& event) {
    Fields fields;
    for (const abi::DescribedField& field : abi::describe(event.attr, false))
        if (field.value != 0 && belongs_to_event(field.name)) fields[std::string{field.name}] = field.value;
    return fields;
}

class PerfAgrees : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        if (std::system("perf --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "perf is not installed";
    }
};

TEST_P(PerfAgrees, OnThePerfEventAttr) {
    const auto theirs = attrs_of_perf(GetParam());
    if (theirs.empty()) GTEST_SKIP() << "perf printed no perf_event_attr for this event";
    const auto groups = parse(Machine::read(), GetParam());
    ASSERT_TRUE(groups) << groups.error().what << groups.error().cause;
    EXPECT_EQ(attr_of_anyperf(groups->front().events.front()), theirs.front());
}

INSTANTIATE_TEST_SUITE_P(
    Strings, PerfAgrees,
    testing::Values("cycles", "cycles:u", "cycles:k", "cycles:h", "cycles:uk", "cycles:G", "cycles:H", "cycles:GH",
                    "cycles:uGk", "cycles:p", "instructions:upp", "branches:ppp", "cs", "cs:k", "faults:u", "cpu-clock",
                    "task-clock:u", "page-faults:I", "migrations:D", "minor-faults:e", "dummy:upp", "bpf-output",
                    "cgroup-switches", "L1-dcache-loads", "L1-dcache-load-misses:u", "L1-icache-prefetch-misses",
                    "LLC-stores", "LLC-prefetch-misses:k", "dTLB-store-misses", "iTLB-loads", "branch-load-misses",
                    "node-stores", "l1d-read-misses", "LLC-refs", "r1c0", "r1c0:u", "r0:k", "rffffffffffffffff", "1:2",
                    "1:2:u", "0:1", "mem:0x1000", "mem:0x1000:w", "mem:0x1000:r", "mem:0x1000/8:rw", "mem:0x1000:x",
                    "mem:0x1000/1:w:u", "{cs:u,faults}:k", "cs/name=x/u", "{cs,faults}:D", "{cs,faults}:e",
                    "cycles:uGH", "cycles/period=1000/u", "r1c0:upp", "1:2/name=x/", "software/config=1/",
                    "breakpoint//", "tracepoint/config=100/"));

// perf and anyperf both read the ids of tracepoints from tracefs, which usually only root may read.
INSTANTIATE_TEST_SUITE_P(Tracepoints, PerfAgrees,
                         testing::Values("sched:sched_switch", "sched:sched_switch:u", "raw_syscalls:sys_enter:k",
                                         "syscalls:sys_enter_openat", "sched:sched_process_fork:upp"));

}  // namespace
}  // namespace anyperf::events
