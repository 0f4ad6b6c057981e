// event_names.h: every CPU's event names: find, enumerate, encode, and explain an attr back into names. docs/naming.md
// is the page on it. The facts are in the program; only which PMUs are active is read from a machine.
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

struct PmuName {
    std::string name;     ///< the prefix: "skl"
    std::string vendor;   ///< "intel"
    std::string type;     ///< "core", "uncore", "os", "unknown"
    bool active = false;  ///< this machine has it
    int events = 0;       ///< that this model has
};

struct MaskName {
    std::string name;
    std::uint64_t code = 0;  ///< as in the facts (data/events/README.md)
    bool is_default = false;
    std::string stands_for;  ///< other attributes; empty: itself
};

struct EventName {
    std::string pmu;
    std::string name;
    std::uint64_t code = 0;  ///< as in the facts
    std::string stands_for;  ///< another event; empty: itself
    std::vector<MaskName> masks;
    std::vector<std::string> modifiers;  ///< of the PMU: "k", "u", "c", …

    std::string full() const { return pmu + "::" + name; }
};

/// A string, encoded.
struct EncodedName {
    std::string canonical;             ///< says everything and reads back to the same; empty where the event has none
    std::string pmu, event;            ///< after aliases
    std::vector<std::uint64_t> codes;  ///< what the PMU's registers hold
    abi::Attr attr;                    ///< type, config…, exclude…, size of the whole structure
    bool active = false;               ///< this machine has the PMU
    std::optional<std::string> kernel_pmu;  ///< attr.type is that of this PMU in /sys/bus/event_source/devices
    bool type_known = true;                 ///< false: the machine has no such kernel_pmu, attr.type is then 0
    int cpu = -1;                           ///< the CPU that the string names
};

/// Which privilege levels an event counts where its string names none.
struct Levels {
    bool user = true, kernel = true, hypervisor = true;
};

/// Cheap to copy; all copies share one machine; any thread may use them at once.
class EventNames {
  public:
    /// The facts, and the PMUs of the machine whose /sys and /proc are below `root`. Never fails: a machine that nobody
    /// knows has no active PMU. The CPU of the running machine is asked itself, another's /proc/cpuinfo is read.
    static EventNames read(const std::filesystem::path& root = "/");

    std::vector<PmuName> pmus() const;
    /// Of the PMU of that name; empty where there is none. "zen4" stands for "amd64_fam19h_zen4" where that is the only
    /// one.
    std::vector<EventName> events_of(std::string_view pmu) const;
    /// "skl::*MISS*", "*::INST_RETIRED*", "l3 miss": a glob of PMU and event or of either; words that the full name or
    /// a mask's contains, in any order, without regard to case. A pattern with no PMU looks at active PMUs unless
    /// `everywhere`.
    std::vector<EventName> match(std::string_view pattern, bool everywhere = false) const;
    /// "PMU::EVENT:MASK:MODIFIER=VALUE"; without the prefix an event of an active PMU. With it any CPU's.
    /// Error: `what` shows the string with the place marked, the cause names the rule, the fix what could stand there.
    Result<EncodedName> encode(std::string_view text, Levels levels = {}) const;
    /// Names for what an attr counts, of the active PMUs and, where `pmu` is given, of that one:
    /// "skl::INST_RETIRED:ANY_P".
    std::vector<std::string> explain(const abi::Attr& attr, std::string_view pmu = {}) const;

    struct Data;
    const Data& data() const { return *data_; }

  private:
    explicit EventNames(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
    std::shared_ptr<const Data> data_;
};

}  // namespace anyperf::events
