// presented_machine_files.h: the files that describe the presented machine: its PMUs in /sys, its settings in
// /proc/sys/kernel, its tracepoints, its CPU in /proc/cpuinfo. They are in a temporary directory of the run, and the
// agent redirects a program that opens /sys/bus/event_source and the like to it. Part 1 has the tracepoints, part 0 all
// else. Each part is made when a program first opens a file of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "broker/machine/directory_remover.h"
#include "broker/run_memory.h"
#include "pmu/cpu/cpu_models.h"
#include "pmu/tracing/probe_events.h"
#include "pmu/tracing/tracefs_files.h"
#include "subsystem/host.h"

namespace anyperf::broker {

class MachineFiles {
  public:
    MachineFiles() = default;
    ~MachineFiles();
    MachineFiles(const MachineFiles&) = delete;
    MachineFiles& operator=(const MachineFiles&) = delete;

    /// Writes part 0 to the run's directory, which it makes if there is none. /proc/cpuinfo is that of `cpu` in a run
    /// that is `deterministic` or not; for the host's CPU it is not written. A level has the files of `cpus` CPUs in
    /// sysfs, too. `modelled_machine`: the name of the machine whose caches are modelled. False if there is no place
    /// for the directory, or not every file could be written; programs then see the host's files.
    bool make(pmu::CpuModel cpu, unsigned cpus, bool deterministic, std::string_view modelled_machine);
    /// Writes part 1, /sys/kernel/tracing. False as for make().
    bool make_tracing(const std::vector<pmu::Tracepoint>& tracepoints);

    /// Adds and removes the files of the probes that have come or gone, and rewrites uprobe_events.
    void update_probes(const pmu::ProbeEvents& probes);

    /// Leaves the directory to another process, which removes it.
    void disown() {
        root_.clear();
        remover_.release();
    }
    /// Removes the directory. So does the destructor.
    void remove();

    /// The inodes of uprobe_events and of the CPU's `rdpmc`; 0 if the file has not been made.
    std::uint64_t probe_list() const;
    std::uint64_t rdpmc_file() const;
    /// The device of the files (st_dev, stat(2)); 0 if no file has been made.
    std::uint64_t device() const;
    /// Writes what the CPU's `rdpmc` says. The file stays the same one.
    void write_rdpmc(std::uint32_t value) const;
    /// The directory; "" if it has not been made.
    const std::string& root() const { return root_; }

    /// Overwrites `limits` with the values of /proc/sys/kernel/perf_event_* and of the CPU's perf_event_mux_interval_ms
    /// in the directory, which a program of the run may change. The files are read again only after one has been
    /// written (inotify).
    void read_limits(subsystem::Limits& limits);

  private:
    bool make_root();
    bool write(const pmu::VirtualTree& tree) const;
    bool write_cpu(pmu::CpuModel model, unsigned cpus, bool deterministic) const;
    bool limits_changed();

    std::string root_;
    DirectoryRemover remover_;
    OwnedFd limits_watch_;  ///< inotify; -1 if the kernel has none left: the files are read each time then
    std::optional<subsystem::Limits> limits_;  ///< as last read
};

}  // namespace anyperf::broker
