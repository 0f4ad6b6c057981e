// machine.cpp: probes, a row for each need.
#include "suite/machine.h"

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

bool counts_kernel_side() {
    return opens(changed(dummy(), [](Attr& a) { a.exclude_kernel = 0; }));
}

bool has_uprobe() {
    return ::geteuid() == 0 && pmu_type("uprobe").has_value();
}

bool makes_cgroups() {
    try {
        const Cgroup group;
        return true;
    } catch (const Skip&) {
        return false;
    }
}

bool watches() {
    static std::uint64_t target = 0;
    return opens(watchpoint(&target));
}

bool loads_bpf() {
    const long program = load_bpf_program(BPF_PROG_TYPE_TRACEPOINT);
    if (program >= 0) ::close(static_cast<int>(program));
    return program >= 0;
}

bool counters_are_few() {
    std::vector<Event> events;  // more than any CPU has, but only where they are opened as a group is it refused
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

struct Row {
    unsigned need;
    const char* name;
    const char* reason;
    bool (*there)();
};

const std::array kRows{
    Row{kRoot, "root", "needs root and its capabilities", has_all_capabilities},
    Row{kKernelSide, "kernel_side", "may not count without exclude_kernel", counts_kernel_side},
    Row{kHardware, "hardware", "no PMU", [] { return opens(instructions()); }},
    Row{kTracefs, "tracefs", "tracefs can't be read",
        [] { return tracepoint_id("syscalls", "sys_enter_getppid").has_value(); }},
    Row{kRawSyscalls, "raw_syscalls", "the raw_syscalls tracepoints can't be read",
        [] { return tracepoint_id("raw_syscalls", "sys_enter").has_value(); }},
    Row{kUprobe, "uprobe", "no uprobe PMU for us", has_uprobe},
    Row{kCgroup, "cgroup", "no cgroup can be made", makes_cgroups},
    Row{kTwoCpus, "two_cpus", "one CPU only", [] { return allowed_cpus().size() > 1; }},
    Row{kBreakpoint, "breakpoint", "no watchpoints", watches},
    Row{kBpf, "bpf", "no BPF program can be loaded", loads_bpf},
    Row{kNobody, "nobody", "can't become uid 65534", [] { return ::geteuid() == 0; }},
    Row{kLevel2, "level_2", "kernel.perf_event_paranoid is not 2", [] { return sysctl("perf_event_paranoid") == 2; }},
    Row{kFewCounters, "few_counters", "no PMU with a limit of counters", counters_are_few},
    Row{kBranchStack, "branch_stack", "no PMU with branch stacks", has_branch_stack},
};

}  // namespace

std::optional<Lack> lack(unsigned needs, bool own_sysctls) {
    static std::map<unsigned, bool> found;
    if ((needs & kSysctl) != 0 && !own_sysctls)
        return Lack{"sysctl", "changes settings of the machine (--sysctls allows it)"};
    for (const Row& row : kRows) {
        if ((needs & row.need) == 0) continue;
        if (!found.contains(row.need)) found[row.need] = row.there();
        if (!found[row.need]) return Lack{row.name, row.reason};
    }
    return std::nullopt;
}

std::string text_in(const std::string& path) {
    std::ifstream file{path};
    std::ostringstream text;
    text << file.rdbuf();
    return file ? text.str() : "";
}

std::optional<long> number_in(const std::string& path) {
    const std::string text = text_in(path);
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
    return number_in("/proc/sys/kernel/" + name);
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
    const auto id = number_in(tracepoint_file(system, name, "id"));
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
    return text_in(tracepoint_file(system, name, "format"));
}

std::optional<std::uint32_t> pmu_type(const std::string& name) {
    const auto type = number_in("/sys/bus/event_source/devices/" + name + "/type");
    if (!type) return std::nullopt;
    return static_cast<std::uint32_t>(*type);
}

Setting::Setting(const std::string& name, long value) : path_{"/proc/sys/kernel/" + name}, before_{text_in(path_)} {
    want_success("writing " + path_, write_to(path_, std::to_string(value)));
}

Setting::~Setting() {
    write_to(path_, before_);
}

namespace {

/// Where the cgroups are that perf_event looks at: its own hierarchy of version 1, else version 2.
std::string cgroup_root() {
    std::istringstream mounts{text_in("/proc/mounts")};
    std::string device, point, type, options, rest, unified;
    while (mounts >> device >> point >> type >> options && std::getline(mounts, rest)) {
        if (type == "cgroup" && options.find("perf_event") != std::string::npos) return point;
        if (type == "cgroup2") unified = point;
    }
    return unified;
}

}  // namespace

Cgroup::Cgroup() {
    const std::string root = cgroup_root();
    if (root.empty()) throw Skip{"no cgroup hierarchy is mounted"};
    path_ = root + "/conformance." + std::to_string(::getpid());
    if (::mkdir(path_.c_str(), 0755) != 0) throw Skip{"can't make " + path_ + ": " + errno_name(errno)};
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
