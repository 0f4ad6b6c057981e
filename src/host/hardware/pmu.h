// pmu.h: the PMUs that the kernel publishes in sysfs, with their type number, their CPUs, the named fields of their
// config words (format/) and the events that the kernel names (events/). perf_event_open(2), "perf_event related
// configuration files". Every PMU has a type; all else is optional.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/hardware/pmu_details.h"
#include "host/root.h"

namespace anyperf::host {

/// One PMU. Its details are read once, at the first call that needs them; any thread may make it.
class Pmu {
  public:
    Pmu(const Root& root, std::string directory, std::string name, std::uint32_t type);
    ~Pmu();
    Pmu(Pmu&&) noexcept;
    Pmu& operator=(Pmu&&) noexcept;

    const std::string& name() const { return name_; }
    std::uint32_t type() const { return type_; }  ///< for attr.type
    /// A second name (file `alias`, which uncore PMUs found by discovery have). Empty if there is none.
    const std::string& alias() const { return alias_; }
    /// The CPUs to open its events on. A core PMU of a machine with several kinds of core has those of its kind (file
    /// `cpus`), an uncore PMU has one for each package or die (file `cpumask`). Empty: every CPU.
    const std::vector<int>& cpus() const { return cpus_; }
    /// Counts for a package, die or cluster, so that its events can't be bound to a task. It has a `cpumask`.
    bool is_uncore() const { return uncore_; }
    /// A PMU of the cores, which counts the kernel's generic events: `cpu`, or one that has `cpus`.
    bool is_core() const { return core_; }

    /// format/, events/ and caps/.
    const PmuDetails& details() const;
    /// By name, exact or else ignoring case; nullptr if there is none. Valid while the Pmu lives.
    const Format* format(std::string_view name) const;
    const Alias* event(std::string_view name) const;
    std::optional<std::string> capability(std::string_view name) const;
    /// The file `identifier`: which version of a PMU outside of the CPU it is ("0x00000030", "i.MX8MM"). Empty if there
    /// is none.
    std::string identifier() const;

  private:
    struct Lazy;
    std::string name_;
    std::string alias_;
    std::uint32_t type_;
    std::vector<int> cpus_;
    bool uncore_ = false;
    bool core_ = false;
    std::unique_ptr<Lazy> lazy_;
};

/// Every PMU below `root`, sorted by name, numbers in names by their value (imc_2 before imc_10). Reads
/// /sys/bus/event_source/devices; if no PMU is there, the directories of /sys/devices that have a `type`.
std::vector<Pmu> read_pmus(const Root& root);

}  // namespace anyperf::host
