// needs.cpp: the probe of each need, and access to /proc, /sys, tracefs and cgroups.
#include "suite/needs.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "suite/case.h"
#include "suite/expect.h"
#include "suite/workload.h"

namespace conformance {

namespace {

bool opens(const Attr& attr) {
    return result_of(attr) == 0;
}

bool has_all_capabilities() {
    return ::geteuid() == 0 && result_of(Call{.attr = dummy(), .pid = -1, .cpu = allowed_cpus().at(0)}) == 0;
}

bool can_count_kernel_mode() {
    return opens(changed(dummy(), [](Attr& a) { a.exclude_kernel = 0; }));
}

bool has_uprobe() {
    return ::geteuid() == 0 && pmu_type("uprobe").has_value();
}

bool can_create_cgroups() {
    try {
        const Cgroup group;
        return true;
    } catch (const Skip&) {
        return false;
    }
}

/// Whether a watchpoint opens and counts. Some hypervisors let the kernel set debug registers that never trap.
bool has_watchpoints() {
    static std::uint64_t target = 0;
    Attr attr = changed(watchpoint(&target), [](Attr& a) { a.disabled = 0; });
    const long fd = open_event(&attr, 0, -1, -1, 0);
    if (fd < 0) return false;
    const Event event = Event::adopt(static_cast<int>(fd));
    store(target);
    std::uint64_t count = 0;
    return ::read(static_cast<int>(fd), &count, sizeof count) == sizeof count && count == 1;
}

bool can_load_bpf() {
    const long program = load_bpf_program(BPF_PROG_TYPE_TRACEPOINT);
    if (program >= 0) ::close(static_cast<int>(program));
    return program >= 0;
}

bool has_limited_counters() {
    // More events than any CPU has counters. Only a group is refused: single events would share the counters by turns.
    std::vector<Event> events;
    constexpr int kMany = 64;
    const long leader = [] {
        Attr attr = instructions();
        return open_event(&attr, 0, -1, -1, 0);
    }();
    if (leader < 0) return false;
    events.push_back(Event::adopt(static_cast<int>(leader)));
    for (int i = 1; i < kMany; ++i) {
        Attr attr = hardware(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
        const long fd = open_event(&attr, 0, -1, static_cast<int>(leader), 0);
        if (fd < 0) return true;
        events.push_back(Event::adopt(static_cast<int>(fd)));
    }
    return false;
}

bool has_branch_stack() {
    return opens(changed(hardware(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1000), [](Attr& a) {
        a.sample_type = PERF_SAMPLE_BRANCH_STACK;
        a.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
    }));
}

struct Probe {
    unsigned need;
    const char* name;    ///< as in --has
    const char* reason;  ///< of a skip, if the machine lacks it
    bool (*is_present)();
};

const std::array kProbes{
    Probe{kRoot, "root", "needs root with all capabilities", has_all_capabilities},
    Probe{kKernelSide, "kernel_side", "counting without exclude_kernel is not permitted", can_count_kernel_mode},
    Probe{kHardware, "hardware", "no PMU", [] { return opens(instructions()); }},
    Probe{kTracefs, "tracefs", "tracefs can't be read",
          [] { return tracepoint_id("syscalls", "sys_enter_getppid").has_value(); }},
    Probe{kRawSyscalls, "raw_syscalls", "the raw_syscalls tracepoints can't be read",
          [] { return tracepoint_id("raw_syscalls", "sys_enter").has_value(); }},
    Probe{kUprobe, "uprobe", "no uprobe PMU, or not root", has_uprobe},
    Probe{kCgroup, "cgroup", "can't create a cgroup", can_create_cgroups},
    Probe{kTwoCpus, "two_cpus", "only one CPU", [] { return allowed_cpus().size() > 1; }},
    Probe{kBreakpoint, "breakpoint", "watchpoints can't be opened, or do not count", has_watchpoints},
    Probe{kBpf, "bpf", "BPF programs can't be loaded", can_load_bpf},
    Probe{kNobody, "nobody", "can't become uid 65534", [] { return ::geteuid() == 0; }},
    Probe{kLevel2, "level_2", "kernel.perf_event_paranoid is not 2", [] { return sysctl("perf_event_paranoid") == 2; }},
    Probe{kFewCounters, "few_counters", "no PMU with a limited number of counters", has_limited_counters},
    Probe{kBranchStack, "branch_stack", "no PMU with branch stacks", has_branch_stack},
};

}  // namespace

std::optional<MissingNeed> find_missing_need(unsigned needs, bool own_sysctls) {
    static std::map<unsigned, bool> present;
    if ((needs & kSysctl) != 0 && !own_sysctls)
        return MissingNeed{"sysctl", "would change settings of the machine; --sysctls allows that"};
    for (const Probe& probe : kProbes) {
        if ((needs & probe.need) == 0) continue;
        if (!present.contains(probe.need)) present[probe.need] = probe.is_present();
        if (!present[probe.need]) return MissingNeed{probe.name, probe.reason};
    }
    return std::nullopt;
}

std::string read_text(const std::string& path) {
    std::ifstream file{path};
    std::ostringstream text;
    text << file.rdbuf();
    return file ? text.str() : "";
}

std::optional<long> read_number(const std::string& path) {
    const std::string text = read_text(path);
    char* end = nullptr;
    const long value = std::strtol(text.c_str(), &end, 0);
    if (end == text.c_str()) return std::nullopt;
    return value;
}

long write_to(const std::string& path, const std::string& text) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -errno;
    const long result = or_errno(::write(fd, text.data(), text.size()));
    ::close(fd);
    return result < 0 ? result : 0;
}

std::optional<long> sysctl(const std::string& name) {
    return read_number("/proc/sys/kernel/" + name);
}

namespace {

std::string tracepoint_file(const std::string& system, const std::string& name, const std::string& file) {
    for (const char* root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
        const std::string path = std::string{root} + "/events/" + system + "/" + name + "/" + file;
        if (::access(path.c_str(), R_OK) == 0) return path;
    }
    return {};
}

}  // namespace

std::optional<std::uint64_t> tracepoint_id(const std::string& system, const std::string& name) {
    const auto id = read_number(tracepoint_file(system, name, "id"));
    if (!id) return std::nullopt;
    return static_cast<std::uint64_t>(*id);
}

Attr tracepoint(const std::string& system, const std::string& name, std::uint64_t period) {
    const auto id = tracepoint_id(system, name);
    if (!id) throw Skip{"no tracepoint " + system + ":" + name};
    Attr attr = software(*id, period);
    attr.type = PERF_TYPE_TRACEPOINT;
    return attr;
}

std::string tracepoint_format(const std::string& system, const std::string& name) {
    return read_text(tracepoint_file(system, name, "format"));
}

std::optional<std::uint32_t> pmu_type(const std::string& name) {
    const auto type = read_number("/sys/bus/event_source/devices/" + name + "/type");
    if (!type) return std::nullopt;
    return static_cast<std::uint32_t>(*type);
}

Setting::Setting(const std::string& name, long value) : path_{"/proc/sys/kernel/" + name}, before_{read_text(path_)} {
    want_success("writing " + path_, write_to(path_, std::to_string(value)));
}

Setting::~Setting() {
    write_to(path_, before_);
}

namespace {

/// The mount point of the cgroup hierarchy that perf_event uses: its own of version 1, or else version 2.
std::string cgroup_root() {
    std::istringstream mounts{read_text("/proc/mounts")};
    std::string device, mount_point, type, options, rest, unified;
    while (mounts >> device >> mount_point >> type >> options && std::getline(mounts, rest)) {
        if (type == "cgroup" && options.find("perf_event") != std::string::npos) return mount_point;
        if (type == "cgroup2") unified = mount_point;
    }
    return unified;
}

}  // namespace

Cgroup::Cgroup() {
    const std::string root = cgroup_root();
    if (root.empty()) throw Skip{"no cgroup hierarchy is mounted"};
    path_ = root + "/conformance." + std::to_string(::getpid());
    if (::mkdir(path_.c_str(), 0755) != 0) throw Skip{"can't create " + path_ + ": " + errno_name(errno)};
}

Cgroup::~Cgroup() {
    ::rmdir(path_.c_str());
}

void Cgroup::add(pid_t pid) const {
    const long result = write_to(path_ + "/cgroup.procs", std::to_string(pid));
    if (result < 0) throw Skip{"can't move a process into a cgroup: " + describe_result(result)};
}

long load_bpf_program(std::uint32_t type) {
    const std::array<bpf_insn, 2> code{
        bpf_insn{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .src_reg = 0, .off = 0, .imm = 0},
        bpf_insn{.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
    bpf_attr attr{};
    attr.prog_type = type;
    attr.insns = reinterpret_cast<std::uint64_t>(code.data());
    attr.insn_cnt = code.size();
    attr.license = reinterpret_cast<std::uint64_t>("GPL");
    return or_errno(::syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr));
}

}  // namespace conformance
