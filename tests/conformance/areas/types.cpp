// types.cpp: which types and configs exist: software events, PMUs in sysfs, and sysctls: "type", "config" and
// "perf_event related configuration files" of the manual.
#include <unistd.h>

#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/workload.h"

namespace conformance {

namespace {

struct Config {
    std::uint64_t config;
    const char* name;
    int expected;
};

constexpr std::array kSoftware{
    Config{PERF_COUNT_SW_CPU_CLOCK, "cpu_clock", 0},
    Config{PERF_COUNT_SW_TASK_CLOCK, "task_clock", 0},
    Config{PERF_COUNT_SW_PAGE_FAULTS, "page_faults", 0},
    Config{PERF_COUNT_SW_CONTEXT_SWITCHES, "context_switches", 0},
    Config{PERF_COUNT_SW_CPU_MIGRATIONS, "cpu_migrations", 0},
    Config{PERF_COUNT_SW_PAGE_FAULTS_MIN, "minor_faults", 0},
    Config{PERF_COUNT_SW_PAGE_FAULTS_MAJ, "major_faults", 0},
    Config{PERF_COUNT_SW_ALIGNMENT_FAULTS, "alignment_faults", 0},
    Config{PERF_COUNT_SW_EMULATION_FAULTS, "emulation_faults", 0},
    Config{PERF_COUNT_SW_DUMMY, "dummy", 0},
    Config{PERF_COUNT_SW_BPF_OUTPUT, "bpf_output", 0},
    Config{PERF_COUNT_SW_CGROUP_SWITCHES, "cgroup_switches", 0},
    Config{12, "12", ENOENT},
    Config{1ULL << 32, "bit_32", ENOENT},
    Config{~0ULL, "all_ones", ENOENT},
};

struct Pmu {
    const char* name;
    std::uint32_t type;
    unsigned needs;
};

constexpr std::array kPmus{
    Pmu{"software", PERF_TYPE_SOFTWARE, kNothing},
    Pmu{"tracepoint", PERF_TYPE_TRACEPOINT, kNothing},
    Pmu{"breakpoint", PERF_TYPE_BREAKPOINT, kNothing},
    Pmu{"cpu", PERF_TYPE_RAW, kHardware},
};

void dynamic_pmu(const char* name) {
    const auto type = pmu_type(name);
    if (!type) throw Skip{std::string{"no PMU "} + name};
    want_at_least("type", *type, 6U);
}

void has_file(const char* pmu, const char* file, const char* expected) {
    const std::string path = std::string{"/sys/bus/event_source/devices/"} + pmu + "/" + file;
    if (!pmu_type(pmu)) throw Skip{std::string{"no PMU "} + pmu};
    want_equal(path, read_text(path), expected);
}

struct Sysctl {
    const char* name;
    long minimum;
};

constexpr std::array kSettings{
    Sysctl{"perf_event_paranoid", -1}, Sysctl{"perf_event_max_sample_rate", 1},
    Sysctl{"perf_event_max_stack", 0}, Sysctl{"perf_event_max_contexts_per_stack", 0},
    Sysctl{"perf_event_mlock_kb", 0},  Sysctl{"perf_cpu_time_max_percent", 0},
};

Case software_case(const Config& row) {
    const std::string name{row.name};
    return {"software." + name,
            row.expected == 0 ? "PERF_TYPE_SOFTWARE has " + in_words(name)
                              : "PERF_TYPE_SOFTWARE: config " + in_words(name) + " is ENOENT",
            kNothing, [&row] { want_result("perf_event_open", result_of(software(row.config)), row.expected); }};
}

}  // namespace

std::vector<Case> type_cases() {
    std::vector<Case> cases;
    cases.reserve(kSoftware.size());
    for (const Config& row : kSoftware) cases.push_back(software_case(row));
    for (const Pmu& pmu : kPmus)
        cases.push_back({std::string{"sysfs."} + pmu.name,
                         std::string{"sysfs has the PMU "} + pmu.name + " with its fixed type", pmu.needs,
                         [&pmu] { want_equal("type", pmu_type(pmu.name).value_or(~0U), pmu.type); }});
    for (const Sysctl& setting : kSettings)
        cases.push_back({std::string{"sysctl."} + setting.name,
                         std::string{"/proc/sys/kernel/"} + setting.name + " has a number in its range", kNothing,
                         [&setting] {
                             const auto value = sysctl(setting.name);
                             want("the file can be read", value.has_value());
                             want_at_least(setting.name, *value, setting.minimum);
                         }});
    append(cases,
           {
               {"sysfs.uprobe", "the uprobe PMU has a type above the fixed types", kNothing,
                [] { dynamic_pmu("uprobe"); }},
               {"sysfs.uprobe_retprobe", "the retprobe format of uprobe is bit 0 of config", kNothing,
                [] { has_file("uprobe", "format/retprobe", "config:0\n"); }},
               {"sysfs.uprobe_ref_ctr", "the ref_ctr_offset format of uprobe is the upper half of config", kNothing,
                [] { has_file("uprobe", "format/ref_ctr_offset", "config:32-63\n"); }},
               {"sysfs.uevent", "every PMU has a uevent file", kNothing,
                [] { want("uevent exists", ::access("/sys/bus/event_source/devices/software/uevent", F_OK) == 0); }},
               {"sysfs.cpu_rdpmc", "the CPU's PMU has the file rdpmc", kHardware,
                [] { want("rdpmc has a number", read_number("/sys/bus/event_source/devices/cpu/rdpmc").has_value()); }},
               {"sysfs.cpu_format_event", "the CPU's PMU has format/event", kHardware,
                [] {
                    want("format/event begins with config:",
                         read_text("/sys/bus/event_source/devices/cpu/format/event").starts_with("config:"));
                }},
               {"sysfs.cpu_events", "the CPU's PMU has events/instructions", kHardware,
                [] {
                    want("events/instructions is not empty",
                         !read_text("/sys/bus/event_source/devices/cpu/events/instructions").empty());
                }},
               {"sysfs.devices_cpu", "the CPU's PMU is also in /sys/devices/cpu", kHardware,
                [] { want_equal("type", read_number("/sys/devices/cpu/type").value_or(-1), 4); }},
               {"tracepoint_0", "tracepoint id 0 is EINVAL", kNothing,
                [] {
                    Attr attr = software(0);
                    attr.type = PERF_TYPE_TRACEPOINT;
                    want_result("perf_event_open", result_of(attr), EINVAL);
                }},
               {"tracepoint_unknown", "an unknown tracepoint id is EINVAL", kNothing,
                [] {
                    Attr attr = software(0xfffffff);
                    attr.type = PERF_TYPE_TRACEPOINT;
                    want_result("perf_event_open", result_of(attr), EINVAL);
                }},
           });
    return cases;
}

}  // namespace conformance
