// machine_files.h: the files that describe the virtual machine, in a directory of the run's own: programs in the run
// that open /sys/bus/event_source and its like are led there.
#pragma once

#include <optional>
#include <string>

#include "broker/run_memory.h"
#include "pmu/identity.h"
#include "pmu/probe_events.h"
#include "pmu/trace_files.h"
#include "subsystem/host.h"

namespace anyperf::broker {

class MachineFiles {
  public:
    MachineFiles() = default;
    ~MachineFiles();
    MachineFiles(const MachineFiles&) = delete;
    MachineFiles& operator=(const MachineFiles&) = delete;

    /// Writes them where a directory for temporary files can be written. False where none can: then programs see the
    /// host's files. /proc/cpuinfo is that of `cpu`; null: the host's.
    bool make(const pmu::CpuIdentity* cpu);
    /// /sys/kernel/tracing beside them.
    bool make_tracing(const std::vector<pmu::Tracepoint>& tracepoints);

    /// The probes that have come or gone, and the list of them.
    void follow(const pmu::ProbeEvents& probes);

    /// Another process removes them when it is done.
    void leave_to_another() { root_.clear(); }
    void remove();

    /// "" before `make`.
    const std::string& root() const { return root_; }

    /// /proc/sys/kernel/perf_event_*, which root may write in the run; `limits` where they don't say otherwise. They
    /// are read again when one has been written.
    void read_limits(subsystem::Limits& limits);

  private:
    bool make_root();
    bool write(const pmu::VirtualTree& tree) const;
    bool limits_changed();

    std::string root_;
    OwnedFd limits_watch_;  ///< inotify; none where the kernel has none left: then they are read each time
    std::optional<subsystem::Limits> limits_;
};

}  // namespace anyperf::broker
