// records_other.cpp: when SWITCH, NAMESPACES, CGROUP, KSYMBOL, BPF_EVENT and READ records are written, and their
// fields.
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

Attr recording(void (*change)(Attr&)) {
    return changed(dummy(), [&](Attr& a) {
        a.disabled = 0;
        change(a);
    });
}

/// Sleeps `times` times for 2 ms.
void sleep_briefly(int times) {
    for (int i = 0; i < times; ++i) {
        const timespec little{.tv_sec = 0, .tv_nsec = 2'000'000};
        ::nanosleep(&little, nullptr);
    }
}

Attr switches() {
    return recording([](Attr& a) { a.context_switch = 1; });
}

void switches_alternate() {
    const Event event{changed(switches(), [](Attr& a) { a.exclude_kernel = 0; })};
    Ring ring{event};
    sleep_briefly(3);
    const auto records = ring.drain(PERF_RECORD_SWITCH);
    want_at_least("records", records.size(), 6U);
    for (std::size_t i = 0; i < records.size(); ++i) {
        want_equal("size", records[i].size, 8);
        want_equal("misc SWITCH_OUT", records[i].misc & PERF_RECORD_MISC_SWITCH_OUT,
                   i % 2 == 0 ? PERF_RECORD_MISC_SWITCH_OUT : 0);
    }
}

void switch_by_sleeping() {
    const Event event{changed(switches(), [](Attr& a) { a.exclude_kernel = 0; })};
    Ring ring{event};
    sleep_briefly(8);
    int asleep = 0;
    for (const Record& record : ring.drain(PERF_RECORD_SWITCH))
        if ((record.misc & PERF_RECORD_MISC_SWITCH_OUT) && !(record.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT))
            ++asleep;
    want_at_least("switches out that are not preemptions", asleep, 8);
}

void switch_unprivileged() {
    in_checked_child([] {
        if (::geteuid() == 0) become_nobody();
        const Event event{switches()};
        Ring ring{event};
        sleep_briefly(2);
        want_at_least("records", ring.drain(PERF_RECORD_SWITCH).size(), 4U);
    });
}

void switch_cpu_wide() {
    const int cpu = pin_to(0);
    const Event event{changed(switches(), [](Attr& a) { a.exclude_kernel = 0; }), -1, cpu};
    Ring ring{event, 64};
    sleep_briefly(5);
    const auto records = ring.drain(PERF_RECORD_SWITCH_CPU_WIDE);
    want_at_least("records", records.size(), 2U);
    want_equal("size", records[0].size, 16);
    bool named = false;
    for (const Record& record : records) named = named || static_cast<pid_t>(record.u32(4)) == thread_id();
    want("some records name this thread as the other task", named);
}

constexpr std::array<const char*, 7> kNamespaces{"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};

void namespaces() {
    const Event event{recording([](Attr& a) { a.namespaces = 1; })};
    Ring ring{event};
    if (::unshare(CLONE_NEWUTS) != 0) throw Skip{"unshare is refused"};
    const Record record = the_only(ring.drain(), PERF_RECORD_NAMESPACES);
    want_equal("size", record.size, 136);
    want_equal("pid", static_cast<pid_t>(record.u32(0)), ::getpid());
    want_equal("tid", static_cast<pid_t>(record.u32(4)), thread_id());
    want_equal("nr_namespaces", record.u64(8), kNamespaces.size());
    for (std::size_t i = 0; i < kNamespaces.size(); ++i) {
        struct stat file{};
        if (::stat((std::string{"/proc/self/ns/"} + kNamespaces.at(i)).c_str(), &file) != 0) continue;
        want_equal(std::string{"inode of "} + kNamespaces.at(i), record.u64(16 + 16 * i + 8), file.st_ino);
    }
}

void cgroup_created() {
    const Event event{recording([](Attr& a) { a.cgroup = 1; })};
    Ring ring{event};
    struct stat directory{};
    std::string path;
    {
        const Cgroup group;
        ::stat(group.path().c_str(), &directory);
        path = group.path();
    }
    const Record record = the_only(ring.drain(), PERF_RECORD_CGROUP);
    want_equal("id", record.u64(0), directory.st_ino);
    want("the path ends with the cgroup's name", path.ends_with(record.text(8)) && record.text(8).size() > 1);
}

/// Creates a cgroup with a path that is relative to the descriptor of its parent.
void cgroup_created_at() {
    const Event event{recording([](Attr& a) { a.cgroup = 1; })};
    Ring ring{event};
    std::string path;
    {
        const Cgroup outer;
        path = outer.path();
        const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY);
        const bool created = directory >= 0 && ::mkdirat(directory, "inner", 0755) == 0;
        if (created) ::unlinkat(directory, "inner", AT_REMOVEDIR);
        if (directory >= 0) ::close(directory);
        want("mkdirat creates a directory", created);
    }
    const auto records = ring.drain(PERF_RECORD_CGROUP);
    want_equal("records", records.size(), 2U);
    want_equal("path of the inner cgroup", records[1].text(8), records[0].text(8) + "/inner");
}

void mkdir_elsewhere() {
    const Event event{recording([](Attr& a) { a.cgroup = 1; })};
    Ring ring{event};
    char path[] = "/tmp/conformance.XXXXXX";
    want("a directory is created", ::mkdtemp(path) != nullptr);
    ::rmdir(path);
    want_equal("records", ring.drain(PERF_RECORD_CGROUP).size(), 0U);
}

/// Creates a cgroup and changes this thread's namespaces; returns the number of records that a CPU-wide event gets of
/// both.
std::size_t cpu_wide_records(void (*change)(Attr&)) {
    const int cpu = pin_to(0);
    const Event of_cpu{recording(change), -1, cpu};
    Ring ring{of_cpu};
    {
        const Cgroup group;
    }
    if (::unshare(CLONE_NEWUTS) != 0) throw Skip{"unshare is refused"};
    const auto records = ring.drain();
    return only(records, PERF_RECORD_CGROUP).size() + only(records, PERF_RECORD_NAMESPACES).size();
}

void cpu_wide_without_comm() {
    want_equal("records", cpu_wide_records([](Attr& a) { a.cgroup = a.namespaces = 1; }), 0U);
}

void cpu_wide_with_comm() {
    want_equal("records", cpu_wide_records([](Attr& a) { a.cgroup = a.namespaces = a.comm = 1; }), 2U);
}

bpf_prog_info bpf_info(int program) {
    bpf_prog_info info{};
    bpf_attr question{};
    question.info.bpf_fd = static_cast<std::uint32_t>(program);
    question.info.info_len = sizeof info;
    question.info.info = reinterpret_cast<std::uint64_t>(&info);
    want_success("BPF_OBJ_GET_INFO_BY_FD", ::syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &question, sizeof question));
    return info;
}

void bpf_fields() {
    const Event event{recording([](Attr& a) { a.ksymbol = a.bpf_event = 1; })};
    Ring ring{event, 16};
    const int program = static_cast<int>(want_success("BPF_PROG_LOAD", load_bpf_program(BPF_PROG_TYPE_TRACEPOINT)));
    const auto records = ring.drain();
    const bpf_prog_info info = bpf_info(program);
    ::close(program);
    const Record event_record = the_only(records, PERF_RECORD_BPF_EVENT);
    want_equal("flags", event_record.u32(0) >> 16, 0U);
    want_equal("id", event_record.u32(4), info.id);
    want("tag", std::memcmp(event_record.body.data() + 8, info.tag, sizeof info.tag) == 0);
    const Record symbol = the_only(records, PERF_RECORD_KSYMBOL);
    want_equal("type", symbol.u32(12) & 0xffff, std::uint32_t{PERF_RECORD_KSYMBOL_TYPE_BPF});
    want_equal("flags", symbol.u32(12) >> 16, 0U);
    std::string tag;
    for (const unsigned byte : info.tag) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", byte);
        tag += digits;
    }
    want_equal("name", symbol.text(16), "bpf_prog_" + tag);
    want_equal("type of the first record, KSYMBOL", records.front().type, std::uint32_t{PERF_RECORD_KSYMBOL});
}

void bpf_not_requested() {
    const Event event{recording([](Attr& a) { a.ksymbol = 1; })};
    Ring ring{event, 16};
    ::close(static_cast<int>(want_success("BPF_PROG_LOAD", load_bpf_program(BPF_PROG_TYPE_TRACEPOINT))));
    const auto records = ring.drain();
    want("there is a KSYMBOL", !only(records, PERF_RECORD_KSYMBOL).empty());
    want_equal("BPF_EVENT records", only(records, PERF_RECORD_BPF_EVENT).size(), 0U);
}

void bpf_loaded() {
    const Event event{recording([](Attr& a) { a.ksymbol = a.bpf_event = 1; })};
    Ring ring{event, 16};
    const long program = want_success("BPF_PROG_LOAD", load_bpf_program(BPF_PROG_TYPE_TRACEPOINT));
    const auto records = ring.drain();
    ::close(static_cast<int>(program));
    bool loaded = false;
    for (const Record& record : only(records, PERF_RECORD_BPF_EVENT)) {
        want_equal("size", record.size, 24);
        loaded = loaded || (record.u32(0) & 0xffff) == PERF_BPF_EVENT_PROG_LOAD;
    }
    want("there is a BPF_EVENT of the load", loaded);
    bool symbol = false;
    for (const Record& record : only(records, PERF_RECORD_KSYMBOL))
        symbol = symbol || record.text(16).starts_with("bpf_prog_");
    want("there is a KSYMBOL bpf_prog_…", symbol);
}

void read_record() {
    Faults faults;
    const int cpu = pin_to(0);
    const Attr attr = changed(page_faults(), [](Attr& a) {
        a.inherit = a.inherit_stat = 1;
        a.disabled = 0;
        a.read_format = PERF_FORMAT_ID;
        // Without these bits Linux may swap the contexts of parent and child, and then writes no record.
        a.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
    });
    const Event event{attr, 0, cpu};
    Ring ring{event};
    const pid_t pid = ::fork();
    if (pid == 0) {
        faults.cause(5);
        ::_exit(0);
    }
    ::waitpid(pid, nullptr, 0);
    const Record record = the_only(ring.drain(), PERF_RECORD_READ);
    want_equal("pid", static_cast<pid_t>(record.u32(0)), pid);
    want_equal("tid", static_cast<pid_t>(record.u32(4)), pid);
    want_at_least("value", record.u64(8), 5U);
    want_equal("id of the parent's event", record.u64(16), event.id());
}

void no_read_record() {
    const int cpu = pin_to(0);
    const Event event{changed(page_faults(),
                              [](Attr& a) {
                                  a.inherit = 1;
                                  a.disabled = 0;
                              }),
                      0, cpu};
    Ring ring{event};
    in_child([] {});
    want_equal("READ records", ring.drain(PERF_RECORD_READ).size(), 0U);
}

}  // namespace

std::vector<Case> record_other_cases() {
    return {
        {"switch.turns", "SWITCH records alternate between out and in, beginning with out", kKernelSide,
         switches_alternate},
        {"switch.sleep", "SWITCH of a task that goes to sleep does not have the PREEMPT bit", kKernelSide,
         switch_by_sleeping},
        {"switch.nobody", "unprivileged users may record their own switches", kNothing, switch_unprivileged},
        {"switch.cpu_wide", "SWITCH_CPU_WIDE has the other task's pid and tid", kRoot, switch_cpu_wide},
        {"namespaces", "unshare writes NAMESPACES with pid, tid and seven namespaces", kRoot, namespaces},
        {"cgroup", "mkdir in the cgroup file system writes CGROUP with inode and path", kRoot | kCgroup,
         cgroup_created},
        {"cgroup.at", "mkdirat in the cgroup file system writes CGROUP with the path from the hierarchy's root",
         kRoot | kCgroup, cgroup_created_at},
        {"cgroup.elsewhere", "mkdir in another file system writes no CGROUP", kNothing, mkdir_elsewhere},
        {"cpu_wide.alone", "*quirk*: a CPU-wide event with only cgroup and namespaces gets neither record",
         kRoot | kCgroup, cpu_wide_without_comm},
        {"cpu_wide.comm", "a CPU-wide event with cgroup and namespaces gets both records if it also has comm",
         kRoot | kCgroup, cpu_wide_with_comm},
        {"bpf.facts", "BPF_EVENT has the program's id and tag, and KSYMBOL has the name of its symbol", kBpf,
         bpf_fields},
        {"bpf.ksymbol", "ksymbol without bpf_event writes only KSYMBOL", kBpf, bpf_not_requested},
        {"bpf", "loading a BPF program writes KSYMBOL and BPF_EVENT", kBpf, bpf_loaded},
        {"read", "with inherit_stat the exit of an inherited child writes READ with its count", kNothing, read_record},
        {"read_unasked", "without inherit_stat there is no READ", kNothing, no_read_record},
    };
}

}  // namespace conformance
