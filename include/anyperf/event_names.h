// event_names.h: the event names of every CPU: finds, enumerates and encodes them, and finds the names of an attr. The
// names and codes are part of the library. Only which PMUs are active is read from a machine. docs/naming.md describes
// the names.
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
    bool is_default = false;  ///< used if the string names no mask of its group
    std::string alias_of;     ///< the attributes that it is short for; empty: it is not an alias
};

/// An event of a PMU.
struct EventName {
    std::string pmu;
    std::string name;
    std::uint64_t code = 0;  ///< as in the data files
    std::string alias_of;    ///< the event that this is another name of; empty: it is not an alias
    std::vector<MaskName> masks;
    std::vector<std::string> modifiers;  ///< those of its PMU that it takes: "k", "u", "c", …

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

/// The catalog, with the PMUs that are active on one machine. It is cheap to copy: all copies share what was read of
/// the machine. Several threads may use it at the same time.
class EventNames {
  public:
    /// The active PMUs are those of the machine whose /sys and /proc are below `root`; "/" is this machine. Never
    /// fails: on an unknown CPU only those PMUs are active that do not depend on the model, such as `perf`. The CPU
    /// model comes from CPUID, for another machine from its /proc/cpuinfo.
    static EventNames read(const std::filesystem::path& root = "/");
    /// The one active PMU is that of a CPU's cores: "skylake", "amdzen5" (names of perf's lists) or "skl", "zen5" (PMUs
    /// of the catalog). Error: no CPU has the name, or the catalog does not have the CPU.
    static Result<EventNames> of_cpu(std::string_view cpu);

    /// Every PMU of the catalog.
    std::vector<PmuName> pmus() const;
    /// The events of the PMU with this name; empty if there is none. The part after an underscore is enough if only one
    /// PMU ends with it: "zen4" for "amd64_fam19h_zen4".
    std::vector<EventName> events_of(std::string_view pmu) const;
    /// The events whose name matches a glob ("skl::*MISS*", "*::INST_RETIRED*") or contains all words ("l3 miss") in
    /// any order. Case is ignored. "EVENT:MASK" may match instead; the event then has only the masks that match. A
    /// pattern without a PMU searches the active PMUs, or with `everywhere` all PMUs.
    std::vector<EventName> match(std::string_view pattern, bool everywhere = false) const;
    /// Encodes "PMU::EVENT:MASK:MODIFIER=VALUE". The PMU need not be active. Without "PMU::" the event is looked up in
    /// the active PMUs. Error: `what` shows the string with the position marked, `cause` names the rule, and `fix` says
    /// what would be valid.
    Result<EncodedName> encode(std::string_view text, Levels levels = {}) const;
    /// The names of the event that an attr counts ("skl::INST_RETIRED:ANY_P"): those of `pmu`, or if that is empty
    /// those of the active PMUs. Empty if no name matches.
    std::vector<std::string> explain(const abi::Attr& attr, std::string_view pmu = {}) const;

    struct Data;
    const Data& data() const { return *data_; }

  private:
    explicit EventNames(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
    std::shared_ptr<const Data> data_;
};

}  // namespace anyperf::events
