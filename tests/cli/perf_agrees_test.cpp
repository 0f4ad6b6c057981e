// perf_agrees_test.cpp: what perf asks the kernel for and what we would, for the same string. Only types that need no
// PMU: `perf stat -vv` prints each perf_event_attr, whether it can be opened or not.
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

/// What `stat` adds by itself, in perf and in us, and what perf 6.1 does not print.
constexpr std::array<std::string_view, 8> kNotTheEvents{"size",        "disabled",    "inherit",       "enable_on_exec",
                                                        "sample_type", "read_format", "sample_period", "sample_id_all"};

using Fields = std::map<std::string, std::uint64_t>;

bool is_the_events(std::string_view name) {
    return std::ranges::find(kNotTheEvents, name) == kNotTheEvents.end();
}

/// One printed field: "  config                           0x3" or "  { bp_addr, config1 }  0x1000".
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
            if (is_the_events(name)) fields[name] = std::stoull(word, nullptr, 0);
}

/// The attrs that perf tried, in order; perf drops exclude_guest and precise_ip in later tries of the same event.
std::vector<Fields> perfs(const std::string& event) {
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

Fields ours(const Event& event) {
    Fields fields;
    for (const abi::DescribedField& field : abi::describe(event.attr, false))
        if (field.value != 0 && is_the_events(field.name)) fields[std::string{field.name}] = field.value;
    return fields;
}

class PerfAgrees : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        if (std::system("perf --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "perf is not installed";
    }
};

TEST_P(PerfAgrees, OnTheAttr) {
    const auto theirs = perfs(GetParam());
    if (theirs.empty()) GTEST_SKIP() << "perf printed no perf_event_attr for it here";
    const auto groups = parse(Machine::read(), GetParam());
    ASSERT_TRUE(groups) << groups.error().what << groups.error().cause;
    EXPECT_EQ(ours(groups->front().events.front()), theirs.front());
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

// Numbers of tracepoints are read by both, from files that root alone may read nearly everywhere.
INSTANTIATE_TEST_SUITE_P(Tracepoints, PerfAgrees,
                         testing::Values("sched:sched_switch", "sched:sched_switch:u", "raw_syscalls:sys_enter:k",
                                         "syscalls:sys_enter_openat", "sched:sched_process_fork:upp"));

}  // namespace
}  // namespace anyperf::events
