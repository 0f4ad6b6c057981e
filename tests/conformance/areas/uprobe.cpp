// uprobe.cpp: the uprobe PMU. "kprobe and uprobe" and "uprobe_path, probe_offset" of the manual.
#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/probe.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

__attribute__((noinline, noipa)) int probed(int argument) {
    asm volatile("");
    return argument + 1;
}

std::uint64_t entry() {
    return reinterpret_cast<std::uint64_t>(&probed);
}

Attr uprobe(bool at_return = false, std::uint64_t period = 0) {
    return uprobe_at(reinterpret_cast<const void*>(&probed), at_return, period);
}

void call(int times) {
    for (int i = 0; i < times; ++i) probed(i);
}

void counts(const Attr& attr) {
    const Event event{attr};
    call(2);
    event.enable();
    call(11);
    event.disable();
    call(2);
    want_equal("count", event.count(), 11U);
}

struct Bad {
    const char* name;
    const char* path;  ///< null: NULL
    std::uint64_t offset;
    int expected;
};

constexpr std::array kBad{
    Bad{"path_null", nullptr, 0, EINVAL},
    Bad{"path_empty", "", 0, EINVAL},
    Bad{"path_directory", "/", 0, EINVAL},
    Bad{"path_absent", "/nonexistent", 0, ENOENT},
    Bad{"offset_beyond", "/proc/self/exe", 1ULL << 40, EINVAL},
};

void bad(const Bad& row) {
    Attr attr = uprobe();
    attr.config1 = reinterpret_cast<std::uint64_t>(row.path);
    if (row.offset != 0) {
        attr.config1 = reinterpret_cast<std::uint64_t>(own_path());
        attr.config2 = row.offset;
    }
    want_result("perf_event_open", result_of(attr), row.expected);
}

void bad_pointer() {
    want_result("an unmapped path", result_of(changed(uprobe(), [](Attr& a) { a.config1 = 8; })), EFAULT);
}

void two_on_one() {
    const Event first{uprobe()};
    const Event second{uprobe()};
    first.enable();
    second.enable();
    call(5);
    first.disable();
    second.disable();
    want_equal("the first", first.count(), 5U);
    want_equal("the second", second.count(), 5U);
}

void ip_at_entry() {
    const Attr attr = changed(uprobe(false, 1), [](Attr& a) { a.sample_type = PERF_SAMPLE_IP; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    call(1);
    event.disable();
    want_equal("ip", parse_samples(attr, ring.drain()).at(0).ip, entry());
}

void ip_at_return() {
    const Attr attr = changed(uprobe(true, 1), [](Attr& a) { a.sample_type = PERF_SAMPLE_IP; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    call(1);
    event.disable();
    const std::uint64_t ip = parse_samples(attr, ring.drain()).at(0).ip;
    const auto caller = reinterpret_cast<std::uint64_t>(&call);
    want("ip is in the caller", ip > caller && ip < caller + 200);
}

void another_process() {
    Child child{{[] { call(1); }, [] { call(6); }}};
    const Event event{uprobe(), child.pid()};
    child.step();
    event.enable();
    child.step();
    event.disable();
    call(4);
    want_equal("count", event.count(), 6U);
}

void cpu_wide() {
    const int cpu = pin_to(0);
    const Event event{uprobe(), -1, cpu};
    event.enable();
    call(3);
    in_child([] { call(4); });
    event.disable();
    want_equal("calls in all processes", event.count(), 7U);
}

void period() {
    const Attr attr = changed(uprobe(false, 3), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    call(10);
    event.disable();
    want_equal("samples", ring.drain(PERF_RECORD_SAMPLE).size(), 3U);
}

void for_nobody() {
    const Attr attr = uprobe();
    become_nobody();
    want_result("perf_event_open", result_of(attr), EACCES);
}

void gone_with_the_descriptor() {
    Event event{uprobe()};
    event.enable();
    call(1);
    event.close();
    call(5);  // must not trap into anything any more
    const Event again{uprobe()};
    again.enable();
    call(2);
    again.disable();
    want_equal("count of a new one", again.count(), 2U);
}

}  // namespace

std::vector<Case> uprobe_cases() {
    std::vector<Case> cases{
        {"entry", "config1 path, config2 offset: counts calls", kUprobe, [] { counts(uprobe()); }},
        {"return", "config bit 0: counts returns", kUprobe, [] { counts(uprobe(true)); }},
        {"config_bits", "other bits of the lower half of config are ignored", kUprobe,
         [] { counts(changed(uprobe(), [](Attr& a) { a.config = 0x10; })); }},
        {"path_pointer", "a bad pointer is EFAULT", kUprobe, bad_pointer},
        {"two", "two on one function both count", kUprobe, two_on_one},
        {"ip", "IP of an entry is the function", kUprobe, ip_at_entry},
        {"ip_return", "IP of a return is where it returns to", kUprobe, ip_at_return},
        {"process", "on another process", kUprobe, another_process},
        {"cpu_wide", "on a CPU: all processes", kUprobe | kRoot, cpu_wide},
        {"period", "samples every n-th", kUprobe, period},
        {"nobody", "not for the unprivileged", kUprobe | kNobody, for_nobody},
        {"closed", "the probe goes with the descriptor", kUprobe, gone_with_the_descriptor},
    };
    for (const Bad& row : kBad)
        cases.push_back({row.name, "a path that is none, or an offset beyond the file", kUprobe, [&row] { bad(row); }});
    return cases;
}

}  // namespace conformance
