// event.h: turns event strings as perf users type them ("cycles:u", "{a,b}:S", "cpu/event=0x3c/", "sched:sched_switch",
// "mem:0x1000:rw") into what perf_event_open(2) needs. docs/events.md describes the syntax.
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

/// Terms that say how to sample the event ("cycles/call-graph=fp,period=1000/"). Programs that only count ignore them.
/// attr.sample_period and the flag `freq` are already set from them; `period` and `freq` show what the user chose.
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

/// One event: one perf_event_open call for each CPU or task to be measured.
struct Event {
    std::string name;  ///< for output; distinguishes the events that one item became ("uncore_imc_0/clockticks/")
    std::string source_text;  ///< as it was typed, or its name= term; the same for all events that one item became
    std::string pmu;          ///< its name in /sys/bus/event_source/devices; empty if the kernel chooses it
    /// If the prefix names a PMU of the catalog that this machine doesn't have ("skl"): that PMU. attr.config then
    /// means another event on this machine, so the event may be shown but must not be opened. Otherwise empty.
    std::string absent_pmu;
    /// If the event needs a PMU that the kernel of this machine doesn't have: that PMU's name. attr.type means nothing
    /// then, and the event can't be opened. Otherwise empty.
    std::string missing_pmu;

    /// type, size, config…, exclude_*, precise_ip, pinned, exclusive, sample_period, bp_type. `disabled`, `inherit`,
    /// sample_type and read_format are left to the program that opens the event. Use attr_to_open() to open it.
    abi::Attr attr;
    std::string config1_text;  ///< kprobe_func or uprobe_path: the string that attr.config1 must point to

    std::string unit;          ///< of the scaled count: "Joules", "MiB"; empty: a plain count
    double scale = 1;          ///< count × scale is in `unit`
    bool per_package = false;  ///< all CPUs of a package show the same count: don't add them up
    bool snapshot = false;     ///< the value is a state, not a count

    std::vector<int> cpus;       ///< CPUs that can count it: those of a core type, or one per package. Empty: every CPU
    bool cpu_wide_only = false;  ///< an uncore event: open it with pid -1 on each of `cpus`

    bool precise_max = false;     ///< :P: on EOPNOTSUPP or EINVAL try again with attr.precise_ip one lower
    bool sample_read = false;     ///< :S: samples of the leader have the values of the group
    bool bpf_counter = false;     ///< :b: share one set of counters through BPF
    std::optional<bool> inherit;  ///< the term "inherit" or "no-inherit", if it was typed
    bool percore = false;         ///< "percore": add up the hardware threads of a core
    SamplingTerms sampling;
};

/// Events that the kernel schedules together: all of them count at the same time, or none.
struct EventGroup {
    std::string name;           ///< of "name:{a,b}"
    std::vector<Event> events;  ///< the leader first; never empty
    bool braces = false;        ///< written in braces, even if it has one event only
    bool weak = false;          ///< :W: may be broken up if the PMU can't count all of them at once
};

/// event.attr as the kernel must see it: config1 points to event.config1_text if that is set. The pointer is valid
/// while `event` lives and is neither moved nor changed.
abi::Attr attr_to_open(const Event& event);

/// The event names of one machine. Cheap to copy: all copies share what was read. Threads may use it concurrently.
class Machine {
  public:
    /// The machine whose files are below `root`: "/" for this one, or a directory with a copy of another's /sys and
    /// /proc. Never fails: a machine without sysfs has the kernel's own names only. Most files are read when a name
    /// needs them.
    static Machine read(const std::filesystem::path& root = "/");
    /// This machine with the files below `overlay` in place of its own where they exist: what programs see in a run
    /// with the virtual PMU.
    static Machine read_with_overlay(const std::filesystem::path& overlay);
    /// The same, where events have the names of the CPU `cpu` (as of_cpu()), whichever CPU /proc/cpuinfo shows. Error:
    /// no CPU has the name.
    static Result<Machine> read_with_overlay(const std::filesystem::path& overlay, std::string_view cpu);
    /// A machine with the CPU of that name and no files: "skylake", "amdzen5" (names of perf's lists) or "skl",
    /// "zen5" (PMUs of the catalog). For showing names of its events. Error: no CPU has the name.
    static Result<Machine> of_cpu(std::string_view cpu);

    struct Data;
    const Data& data() const { return *data_; }

  private:
    explicit Machine(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
    std::shared_ptr<const Data> data_;
};

/// Which names of the catalog a string may use: those of every CPU, to show what they encode to; or only those of the
/// machine, to open them.
enum class CatalogScope { every_cpu, this_machine };

/// Parses one or several events and groups, separated by commas. An event outside braces is a group of one. One item
/// can become several events (a glob, an uncore PMU with several instances, a hybrid machine); each is then a group of
/// one. Opens nothing. Error: `what` shows the string with the position marked; the cause and fix name the rule or
/// similar names.
Result<std::vector<EventGroup>> parse(const Machine& machine, std::string_view text,
                                      CatalogScope scope = CatalogScope::every_cpu);

}  // namespace anyperf::events
