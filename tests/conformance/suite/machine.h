// machine.h: what this machine has, found out once and before a case runs; the reason to skip where it lacks something.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "suite/event.h"

namespace conformance {

/// Something that cases need and the machine hasn't.
struct Lack {
    std::string name;  ///< `root`, `hardware`, …: as for --has
    std::string reason;
};

/// Why cases with these needs can't run here; nothing where they can. `own_sysctls`: settings may be changed.
std::optional<Lack> lack(unsigned needs, bool own_sysctls);

/// A file's first number, hexadecimal where it begins with 0x.
std::optional<long> number_in(const std::string& path);
std::string text_in(const std::string& path);
/// Writes a file; 0 or -errno.
long write_to(const std::string& path, const std::string& text);

/// /proc/sys/kernel/NAME
std::optional<long> sysctl(const std::string& name);

/// The id of a tracepoint, as `raw_syscalls`, `sys_enter`; none where it can't be read.
std::optional<std::uint64_t> tracepoint_id(const std::string& system, const std::string& name);
/// An attr of that tracepoint; skips the case where there is none.
Attr tracepoint(const std::string& system, const std::string& name, std::uint64_t period = 0);
/// The text of its format file.
std::string tracepoint_format(const std::string& system, const std::string& name);

/// The type of a PMU in sysfs.
std::optional<std::uint32_t> pmu_type(const std::string& name);

/// A setting under /proc/sys/kernel, changed for the time of a case. Only for cases that need kSysctl.
class Setting {
  public:
    Setting(const std::string& name, long value);
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;
    ~Setting();

  private:
    std::string path_;
    std::string before_;
};

/// A cgroup of its own, without tasks; removed at the end. In the hierarchy that perf_event looks at.
class Cgroup {
  public:
    Cgroup();
    Cgroup(const Cgroup&) = delete;
    Cgroup& operator=(const Cgroup&) = delete;
    ~Cgroup();
    const std::string& path() const { return path_; }
    void add(pid_t pid) const;

  private:
    std::string path_;
};

/// Loads a BPF program `return 0` of a type: its descriptor, or -errno.
long load_bpf_program(std::uint32_t type);

}  // namespace conformance
