// event.h: what perf users type ("cycles:u", "{a,b}:S", "cpu/event=0x3c/", "sched:sched_switch", "mem:0x1000:rw")
// becomes what perf_event_open(2) is asked for. docs/events.md is the page on the syntax.
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

/// Terms that say how to sample the event ("cycles/call-graph=fp,period=1000/"). Who only counts leaves them alone.
/// attr.sample_period and the freq flag are set already; `period` and `freq` tell that the user chose them.
struct SamplingTerms {
    std::optional<std::uint64_t> period;           ///< in events
    std::optional<std::uint64_t> freq;             ///< in Hz
    std::optional<bool> time;                      ///< timestamps in samples
    std::optional<std::string> call_graph;         ///< "fp", "dwarf", "lbr" or "no"
    std::optional<std::uint32_t> stack_size;       ///< bytes of user stack, for dwarf
    std::optional<std::uint16_t> max_stack;        ///< frames
    std::optional<std::uint64_t> branch_type;      ///< bits of attr.branch_sample_type
    std::optional<bool> overwrite;                 ///< flight recorder: new records replace old ones
    std::optional<std::uint32_t> aux_sample_size;  ///< bytes
    std::vector<std::string> driver_config;        ///< "@name" and "@name=value" terms, without the @
};

/// One perf_event_open call for each CPU or task that is asked for.
struct Event {
    std::string name;   ///< to print; differs between the events that one item became ("uncore_imc_0/clockticks/")
    std::string typed;  ///< as it was typed, or its name= term; the same for all that one item became
    std::string pmu;    ///< name in /sys/bus/event_source/devices; empty where the kernel chooses
    /// The PMU of the catalog that its prefix names ("skl") where this machine hasn't it: the code means something else
    /// here, and is for showing alone. Empty else.
    std::string absent_pmu;
    /// The PMU whose type attr.type should be, where this machine's kernel has no such PMU: attr.type is 0 then.
    std::string type_of;

    /// type, size, config…, exclude_*, precise_ip, pinned, exclusive, sample_period, bp_type. `disabled`, `inherit`,
    /// sample_type and read_format are for those who open it. Ask attr_to_open() for what the kernel is to see.
    abi::Attr attr;
    std::string config1_text;  ///< kprobe_func or uprobe_path: a string that attr.config1 points to while opening

    std::string unit;          ///< of the scaled value: "Joules", "MiB"; empty: a plain count
    double scale = 1;          ///< count × scale is in `unit`
    bool per_package = false;  ///< one count a package: don't add up the CPUs of one package
    bool snapshot = false;     ///< a state, not a count

    std::vector<int> cpus;       ///< CPUs that can count it: of this core type, or one a package. Empty: every CPU
    bool cpu_wide_only = false;  ///< an uncore event: pid must be -1, on each of `cpus`

    bool precise_max = false;     ///< :P: attr.precise_ip is the most to try; on EOPNOTSUPP or EINVAL try one less
    bool sample_read = false;     ///< :S: samples of the leader carry the group's values
    bool bpf_counter = false;     ///< :b: asked to share one set of counters through BPF
    std::optional<bool> inherit;  ///< "inherit" or "no-inherit" was typed
    bool percore = false;         ///< "percore": to be summed up over the threads of a core
    SamplingTerms sampling;
};

/// Scheduled as a unit: all of them count at the same time, or none.
struct EventGroup {
    std::string name;           ///< of "name:{a,b}"
    std::vector<Event> events;  ///< the leader first; never empty
    bool braces = false;        ///< written as a group, even if of one event
    bool weak = false;          ///< :W: may be broken up if the PMU can't take all of them at once
};

/// attr with config1 pointing to event.config1_text where that is set. Valid while `event` lives and is not moved.
abi::Attr attr_to_open(const Event& event);

/// The names that event strings can use on one machine. Cheap to copy; all copies share what was read; any thread may
/// use them at once.
class Machine {
  public:
    /// Reads below `root`, which is "/" or a directory that looks like a machine's root (a copy of its /sys and /proc).
    /// Never fails: a machine without sysfs has the kernel's own names only. Files are read when a name needs them.
    static Machine read(const std::filesystem::path& root = "/");
    /// This machine, but for files that are below `front` as well: the virtual machine of a run.
    static Machine read_behind(const std::filesystem::path& front);

    struct Data;
    const Data& data() const { return *data_; }

  private:
    explicit Machine(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
    std::shared_ptr<const Data> data_;
};

/// Whose names of the catalog a string may use: those of every CPU, to show what they become; or those of the machine.
enum class Whose { every_cpu, this_machine };

/// One or several events and groups, separated by commas. An event outside braces is a group of its own, and so is
/// each of the events that a glob, an uncore PMU with several instances or a hybrid machine made of one item.
/// Error: `what` shows the string with the place marked, exit_status 125; nothing is opened or kept.
Result<std::vector<EventGroup>> parse(const Machine& machine, std::string_view text, Whose names = Whose::every_cpu);

}  // namespace anyperf::events
