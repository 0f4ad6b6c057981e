// uprobe.cpp: the uprobe PMU: its attr, counts and samples of entries and returns: "kprobe and uprobe" and
// "uprobe_path, probe_offset" of the manual.
#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/uprobe_attr.h"
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

void count_calls(const Attr& attr) {
    const Event event{attr};
    call(2);
    event.enable();
    call(11);
    event.disable();
    call(2);
    want_equal("count", event.count(), 11U);
}

/// An invalid path or offset.
struct Invalid {
    const char* name;
    const char* statement;
    const char* path;  ///< may be NULL
    std::uint64_t offset;
    int expected;
};

constexpr std::array kInvalid{
    Invalid{"path_null", "a null path", nullptr, 0, EINVAL},
    Invalid{"path_empty", "an empty path", "", 0, EINVAL},
    Invalid{"path_directory", "a directory as path", "/", 0, EINVAL},
    Invalid{"path_absent", "a path that does not exist", "/nonexistent", 0, ENOENT},
    Invalid{"offset_beyond", "an offset beyond the file", "/proc/self/exe", 1ULL << 40, EINVAL},
};

void refuse_invalid(const Invalid& row) {
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
    want_equal("count of the first event", first.count(), 5U);
    want_equal("count of the second event", second.count(), 5U);
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

void unprivileged() {
    const Attr attr = uprobe();
    become_nobody();
    want_result("perf_event_open", result_of(attr), EACCES);
}

void removed_by_close() {
    Event event{uprobe()};
    event.enable();
    call(1);
    event.close();
    call(5);  // must not trap: the probe is removed
    const Event again{uprobe()};
    again.enable();
    call(2);
    again.disable();
    want_equal("count of a new event", again.count(), 2U);
}

}  // namespace

std::vector<Case> uprobe_cases() {
    std::vector<Case> cases{
        {"entry", "a uprobe with a path in config1 and an offset in config2 counts calls", kUprobe,
         [] { count_calls(uprobe()); }},
        {"return", "with config bit 0 a uprobe counts returns", kUprobe, [] { count_calls(uprobe(true)); }},
        {"config_bits", "other bits of the lower half of config are ignored", kUprobe,
         [] { count_calls(changed(uprobe(), [](Attr& a) { a.config = 0x10; })); }},
        {"path_pointer", "a bad pointer as path is EFAULT", kUprobe, bad_pointer},
        {"two", "two uprobes on one function both count", kUprobe, two_on_one},
        {"ip", "IP of an entry is the address of the function", kUprobe, ip_at_entry},
        {"ip_return", "IP of a return is the return address", kUprobe, ip_at_return},
        {"process", "a uprobe on another process counts its calls", kUprobe, another_process},
        {"cpu_wide", "a CPU-wide uprobe counts the calls of all processes", kUprobe | kRoot, cpu_wide},
        {"period", "sample_period n samples every n-th call", kUprobe, period},
        {"nobody", "a uprobe without privileges is EACCES", kUprobe | kNobody, unprivileged},
        {"closed", "closing the descriptor removes the probe", kUprobe, removed_by_close},
    };
    for (const Invalid& row : kInvalid)
        cases.push_back({row.name, std::string{row.statement} + " is " + errno_name(row.expected), kUprobe,
                         [&row] { refuse_invalid(row); }});
    return cases;
}

}  // namespace conformance
