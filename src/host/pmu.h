// pmu.h: the PMUs that the kernel publishes in sysfs (perf_event_open(2), "perf_event related configuration files"):
// number, CPUs, how named fields spread over config…config4, and the events that the kernel names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::host {

/// Inclusive, as in "config:0-7".
struct BitRange {
    unsigned first = 0;
    unsigned last = 0;
    unsigned width() const { return last - first + 1; }
    bool operator==(const BitRange&) const = default;
};

/// A file of format/: a named field and the bits of one config word it stands for. "config:0-7,32-35" is a field of
/// 12 bits whose low 8 stand in bits 0-7.
struct Format {
    std::string name;
    unsigned word = 0;  ///< 0 config, 1 config1, … 4 config4
    std::vector<BitRange> bits;

    unsigned width() const;
    /// All bits of the word that belong to the field.
    std::uint64_t mask() const;
    /// `value` spread over the bits. Bits of it beyond width() are dropped.
    std::uint64_t spread(std::uint64_t value) const;

    bool operator==(const Format&) const = default;
};

/// A file of events/ with its .scale, .unit, .per-pkg and .snapshot.
struct Alias {
    std::string name;
    std::string terms;  ///< "event=0x3c,umask=0x1"; a value "?" is for the user to give
    std::string unit;
    double scale = 1;
    bool per_package = false;  ///< one count a package: CPUs of a package must not be added up
    bool snapshot = false;     ///< a state, not a count: intervals show the value itself
    bool operator==(const Alias&) const = default;
};

struct PmuCapability {
    std::string name;
    std::string value;
    bool operator==(const PmuCapability&) const = default;
};

/// What a PMU's files say beyond its name. `faults` are files that could not be understood; the rest is usable.
struct PmuDetails {
    std::vector<Format> formats;  ///< sorted by name
    std::vector<Alias> aliases;   ///< sorted by name
    std::vector<PmuCapability> caps;
    std::vector<Error> faults;
};

/// One PMU. Its details are read from `root` at the first call of details(), once, from any thread.
class Pmu {
  public:
    Pmu(const Root& root, std::string directory, std::string name, std::uint32_t type);
    ~Pmu();
    Pmu(Pmu&&) noexcept;
    Pmu& operator=(Pmu&&) noexcept;

    const std::string& name() const { return name_; }
    std::uint32_t type() const { return type_; }  ///< for attr.type
    /// A second name (file `alias`; uncore PMUs found by discovery). Empty where there is none.
    const std::string& alias() const { return alias_; }
    /// CPUs that it exists on: `cpus` of a core PMU on machines with several kinds of core, else `cpumask`: the CPUs
    /// to open it on, one for each package or die. Empty: no such file, every CPU.
    const std::vector<int>& cpus() const { return cpus_; }
    /// Has `cpumask`: counts for a package, die or cluster, so a task can't be counted with it.
    bool is_uncore() const { return uncore_; }
    /// The PMU of cores, which the generic events of the kernel are counted with: `cpu`, or one that has `cpus`.
    bool is_core() const { return core_; }

    const PmuDetails& details() const;
    /// nullptr where there is none. Exact name first, then without regard to case.
    const Format* format(std::string_view name) const;
    const Alias* event(std::string_view name) const;
    std::optional<std::string> capability(std::string_view name) const;

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

/// "config1:0-7,32-35" as a Format called `name`.
Result<Format> parse_format(std::string_view name, std::string_view text);

/// Every PMU below `root`, sorted by name, with parts that are numbers in their order (imc_2 before imc_10). Looks in
/// /sys/bus/event_source/devices, and in /sys/devices/NAME where the former isn't mounted. Empty where there is none.
std::vector<Pmu> read_pmus(const Root& root);

}  // namespace anyperf::host
