// needs.h: what this machine has, probed once for each need before a case runs, and the reason to skip cases that
// need more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "suite/event.h"

namespace conformance {

/// Something that a case needs and that the machine lacks.
struct MissingNeed {
    std::string name;  ///< `root`, `hardware`, …: as in --has
    std::string reason;
};

/// The first of `needs` that is missing, or nothing if cases with these needs can run here. `own_sysctls`: cases may
/// change settings under /proc/sys/kernel.
std::optional<MissingNeed> find_missing_need(unsigned needs, bool own_sysctls);

/// The number at the start of a file, hexadecimal if it begins with 0x; nothing if there is none.
std::optional<long> read_number(const std::string& path);
/// The text of a file, or "" if it can't be read.
std::string read_text(const std::string& path);
/// Writes `text` to an existing file; returns 0 or -errno.
long write_to(const std::string& path, const std::string& text);

/// The value of /proc/sys/kernel/NAME.
std::optional<long> sysctl(const std::string& name);

/// The id of a tracepoint such as `raw_syscalls`, `sys_enter`; nothing if it can't be read.
std::optional<std::uint64_t> tracepoint_id(const std::string& system, const std::string& name);
/// An attr for that tracepoint; skips the case if it does not exist.
Attr tracepoint(const std::string& system, const std::string& name, std::uint64_t period = 0);
/// The text of that tracepoint's format file.
std::string tracepoint_format(const std::string& system, const std::string& name);

/// The type of a PMU as given in sysfs.
std::optional<std::uint32_t> pmu_type(const std::string& name);

/// Changes a setting under /proc/sys/kernel; the destructor restores it. Only for cases that need kSysctl.
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

/// A new cgroup without tasks in the hierarchy that perf_event uses; the destructor removes it.
class Cgroup {
  public:
    Cgroup();
    Cgroup(const Cgroup&) = delete;
    Cgroup& operator=(const Cgroup&) = delete;
    ~Cgroup();
    const std::string& path() const { return path_; }
    /// Moves a process into the cgroup; skips the case if that fails.
    void add(pid_t pid) const;

  private:
    std::string path_;
};

/// Loads the BPF program `return 0` with the given type; returns its descriptor, or -errno.
long load_bpf_program(std::uint32_t type);

}  // namespace conformance
