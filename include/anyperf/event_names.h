// event_names.h: the event names of every CPU: find, enumerate and encode them, and explain an attr by names. The names
// and codes are part of the program; only which PMUs are active is read from a machine. docs/naming.md describes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/attr.h"
#include "anyperf/error.h"

namespace anyperf::events {

/// A PMU of the catalog: one model of a CPU's cores or of an uncore unit.
struct PmuName {
    std::string name;     ///< the prefix of its events: "skl"
    std::string vendor;   ///< "intel"
    std::string type;     ///< "core", "uncore", "os", "unknown"
    bool active = false;  ///< the machine has it
    int events = 0;       ///< how many events it has
};

/// A unit mask: a variant of an event, "ANY" in "INST_RETIRED:ANY".
struct MaskName {
    std::string name;
    std::uint64_t code = 0;   ///< as in the data files (data/events/README.md)
    bool is_default = false;  ///< used if the event is named without a mask
    std::string alias_of;     ///< the attributes that it is short for; empty: it is not an alias
};

/// An event of a PMU.
struct EventName {
    std::string pmu;
    std::string name;
    std::uint64_t code = 0;  ///< as in the data files
    std::string alias_of;    ///< the event that this is another name of; empty: it is not an alias
    std::vector<MaskName> masks;
    std::vector<std::string> modifiers;  ///< those of the PMU: "k", "u", "c", …

    /// "skl::INST_RETIRED".
    std::string full() const { return pmu + "::" + name; }
};

/// The result of encoding a string.
struct EncodedName {
    std::string canonical;             ///< complete: it encodes to the same codes; empty if the event has no such form
    std::string pmu, event;            ///< with aliases resolved
    std::vector<std::uint64_t> codes;  ///< the values of the PMU's registers
    abi::Attr attr;                    ///< type, config…, exclude…, size of the whole structure
    bool active = false;               ///< this machine has the PMU
    std::optional<std::string> kernel_pmu;  ///< attr.type is the number of this PMU in /sys/bus/event_source/devices
    bool type_known = true;                 ///< false: the machine has no such PMU, and attr.type is 0
    int cpu = -1;                           ///< the CPU that the string names; -1: none
};

/// The privilege levels that an event counts if its string names none.
struct Levels {
    bool user = true, kernel = true, hypervisor = true;
};

/// The catalog, with the PMUs that are active on one machine. Cheap to copy: all copies share one machine. Threads may
/// use it concurrently.
class EventNames {
  public:
    /// The PMUs are those of the machine whose /sys and /proc are below `root`; "/" is this machine. Never fails: an
    /// unknown machine has no active PMU. The CPU model comes from CPUID, for another machine from its /proc/cpuinfo.
    static EventNames read(const std::filesystem::path& root = "/");
    /// The PMUs are the cores of a CPU: "skylake", "amdzen5" (names of perf's lists) or "skl", "zen5" (PMUs of the
    /// catalog). Error: no CPU has the name, or the catalog has none of its names.
    static Result<EventNames> of_cpu(std::string_view cpu);

    /// Every PMU of the catalog.
    std::vector<PmuName> pmus() const;
    /// The events of the PMU with this name; empty if there is none. The name may be shortened if it stays unique:
    /// "zen4" for "amd64_fam19h_zen4".
    std::vector<EventName> events_of(std::string_view pmu) const;
    /// The events that match a glob ("skl::*MISS*", "*::INST_RETIRED*") or contain all words ("l3 miss") in their full
    /// name or that of a mask, in any order and ignoring case. A pattern without a PMU searches the active PMUs, or
    /// with `everywhere` all PMUs.
    std::vector<EventName> match(std::string_view pattern, bool everywhere = false) const;
    /// Encodes "PMU::EVENT:MASK:MODIFIER=VALUE". The PMU need not be active. Without "PMU::" the event is looked up in
    /// the active PMUs.
    /// Error: `what` shows the string with the position marked, the cause names the rule, the fix what would be valid.
    Result<EncodedName> encode(std::string_view text, Levels levels = {}) const;
    /// The names of the event that an attr counts ("skl::INST_RETIRED:ANY_P"), in the active PMUs and, if given, in
    /// `pmu`. Empty if it has none.
    std::vector<std::string> explain(const abi::Attr& attr, std::string_view pmu = {}) const;

    struct Data;
    const Data& data() const { return *data_; }

  private:
    explicit EventNames(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
    std::shared_ptr<const Data> data_;
};

}  // namespace anyperf::events
