// profile.h: the one model of a profile. Every reader of recordings makes it, every report and export reads it, so a
// new format is one file that knows nothing of the others.
//
//   Sample ──► Stack ──► Location ──► Dso
//     │          │ caller    └──────► Frame… ──► Function        (several frames where functions were inlined)
//     └──► Context (comm, pid, tid, cpu) ──► Event
//
// A stack is a node of a trie: its location and the stack of its caller. Samples with the same stack and context are
// one row unless their times are kept, so memory follows the number of different stacks and not that of samples.
//
// All parts are rows of tables that refer to each other by number (table.h), texts included (strings.h). No row is
// removed or changed once it is complete, so a reader of a finished profile needs no locks and keeps plain numbers. A
// location is in the terms of its dso, not of a process: a function of a library is one function, wherever processes
// have mapped it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "large_memory.h"
#include "profile/strings.h"
#include "profile/table.h"

namespace anyperf::profile {

using DsoId = Id<struct DsoTag>;
using FunctionId = Id<struct FunctionTag>;
using LocationId = Id<struct LocationTag>;
using StackId = Id<struct StackTag>;
using EventId = Id<struct EventTag>;
using ContextId = Id<struct ContextTag>;
using DetailId = Id<struct DetailTag>;

/// What code comes from. `name` is what reports show: the last part of the path, or "[kernel.kallsyms]", "[vdso]",
/// "[unknown]".
struct Dso {
    /// `script`: a function of an interpreted program, whose addresses are lines of the file at `path`.
    enum class Kind : std::uint8_t { unknown, file, kernel, kernel_module, vdso, jit, script };

    StringId path{};
    StringId name{};
    StringId build_id{};  ///< hexadecimal, or empty
    StringId lost{};      ///< for people: why its file can't be read now; empty: it was read, or there is none
    Kind kind = Kind::unknown;
};

/// A function as a symbol table or debugging information names it. Two functions may have one name.
struct Function {
    StringId name{};          ///< demangled, without parameters
    StringId linkage_name{};  ///< as in the symbol table
    DsoId dso = kNone<DsoId>;
    StringId file{};            ///< source file, or empty
    std::uint32_t line = 0;     ///< where the source declares it; 0 unknown
    std::uint64_t address = 0;  ///< its first byte, as Location::address
    std::uint64_t size = 0;     ///< in bytes; 0 unknown
    bool is_data = false;       ///< a variable; only where data were looked up
};

/// One function of those that are active at a location.
struct Frame {
    FunctionId function = kNone<FunctionId>;
    StringId file{};         ///< source file of `line`, or empty
    std::uint32_t line = 0;  ///< 0 unknown
    bool inlined = false;    ///< into the next frame of the location
};

/// A code address. Locations with equal dso, address and mode are one row. The exception: with source lines, an address
/// that is both a sample's own and a return address has two rows, because the line of a return address is that of the
/// call before it.
struct Location {
    DsoId dso = kNone<DsoId>;
    std::uint64_t address = 0;      ///< as in the symbol table of the dso; of an unknown dso that of the process
    std::uint64_t file_offset = 0;  ///< what perf prints for a user address: the offset in the file
    std::uint64_t map_bytes = 0;    ///< size of the map that it was first found in; 0: of no map
    std::uint32_t first_frame = 0;  ///< Profile::frames(location)
    std::uint16_t frame_count = 0;  ///< 0: no symbol is known; else 1, and 1 more for each inlined function
    bool kernel = false;
};

/// A location with its callers. `caller` has a smaller id.
struct Stack {
    StackId caller = kNone<StackId>;
    LocationId location = kNone<LocationId>;
};

struct Event {
    std::string name;             ///< as recorded: "cycles:u"
    std::string unit;             ///< as recorded, of scaled counts: "msec", "Joules"; samples' weights are not scaled
    std::uint64_t period = 0;     ///< the fixed period, or 0 with a frequency
    std::uint64_t frequency = 0;  ///< in Hz, or 0 with a fixed period
    std::uint64_t lost = 0;       ///< samples that the recorder could not keep
    std::optional<std::uint32_t> leader{};  ///< index of the event that leads its group
    bool tracepoint = false;                ///< samples have what the tracepoint says
};

/// The parts of Detail. A reader keeps those that it is asked for.
enum class Part : std::uint8_t {
    none,
    trace,
    weight,
    data_source,
    data_address,
    physical_address,
    page_sizes,
    branch,
    branch_flags,
    time,
    transaction,
    latencies,
    cgroup,
    cgroup_namespace,
    address,
    data_place,
    trace_fields
};
class Parts {
  public:
    void add(Part part) { bits_ |= part == Part::none ? 0 : 1u << static_cast<unsigned>(part); }
    bool has(Part part) const { return (bits_ >> static_cast<unsigned>(part) & 1) != 0; }
    bool none() const { return bits_ == 0; }

  private:
    unsigned bits_ = 0;
};

/// Details keep times in steps of so many ns, as perf does by default (perf report --time-quantum).
inline constexpr std::uint64_t kTimeQuantum = 100'000'000;

/// Ends each value of Detail::trace_fields: "unit separator", which is in no value (ASCII).
inline constexpr char kFieldEnd = '\x1f';

/// What a sample says beyond its task and its stack. A part that the reader's options leave out is empty.
struct Detail {
    StringId trace{};          ///< what a tracepoint says, as text
    StringId trace_fields{};   ///< the values of Profile::trace_fields, each with kFieldEnd after it
    std::uint64_t weight = 0;  ///< PERF_SAMPLE_WEIGHT: mostly the cycles that an access took
    std::uint64_t instruction_latency = 0, stage_cycles = 0;  ///< the rest of PERF_SAMPLE_WEIGHT_STRUCT
    std::uint64_t data_source = 0;                            ///< PERF_SAMPLE_DATA_SRC (memory_access.h)
    std::uint64_t data_address = 0, physical_address = 0;
    std::uint64_t data_page_size = 0, code_page_size = 0;
    LocationId from = kNone<LocationId>, to = kNone<LocationId>;  ///< of a branch
    std::uint64_t branch_flags = 0;                               ///< the third word of struct perf_branch_entry
    std::uint64_t time = 0;                                       ///< of the sample in ns, rounded down to kTimeQuantum
    std::uint64_t transaction = 0;                                ///< PERF_SAMPLE_TRANSACTION
    std::uint64_t cgroup = 0;                                     ///< its number; Profile::cgroups has the names
    std::uint64_t namespace_device = 0, namespace_inode = 0;      ///< of the task's cgroup namespace
    std::uint64_t address = 0;                                    ///< of the sample, in the process
    LocationId data = kNone<LocationId>;                          ///< where data_address is
    enum class DataMap : std::uint8_t { none, shared, other } data_map = DataMap::other;  ///< what maps it

    bool operator==(const Detail&) const = default;
};

/// The task and the event of a sample. A part that the reader's options leave out is kAny.
struct Context {
    static constexpr std::uint32_t kAny = 0xffff'ffffu;

    EventId event{};
    StringId comm{};
    std::uint32_t pid = kAny;
    std::uint32_t tid = kAny;
    std::uint32_t cpu = kAny;
    DetailId detail = kNone<DetailId>;

    bool operator==(const Context&) const = default;
};

/// Samples with one stack and context. Their weight, not their number, is what reports show in percent: with a changing
/// period one sample represents more events than another.
struct Sample {
    StackId stack = kNone<StackId>;
    ContextId context{};
    std::uint64_t count = 0;   ///< number of samples in this row
    std::uint64_t weight = 0;  ///< sum of their periods: how often the event happened
    std::uint64_t time = 0;    ///< in ns of the recording's clock; 0 in a row of several samples
};

/// Facts of the recording, for the heads of reports and exports. Unknown facts are empty or 0.
struct Recording {
    std::string path, host, release, version, arch, cpu, cpu_id, command_line;
    std::uint32_t cpus_online = 0;
    std::uint64_t memory_kib = 0;
    std::uint64_t first_ns = 0, last_ns = 0;  ///< time of the first and the last sample
    std::uint64_t wall_clock_ns = 0,
                  clock_ns = 0;  ///< one moment on the wall clock and on the samples' clock; 0: unknown
    std::uint64_t lost = 0;      ///< records that were dropped while recording
    std::uint64_t no_room = 0;   ///< those of them that met a full ring
    std::uint64_t skipped = 0;   ///< records that could not be read
};

/// The tables. Plain data: readers fill them, and must keep each id within its table.
class Profile {
  public:
    Strings strings;
    Table<DsoId, Dso> dsos;
    Table<FunctionId, Function> functions;
    Table<LocationId, Location> locations;
    Table<StackId, Stack> stacks;
    Table<EventId, Event> events;
    Table<ContextId, Context> contexts;
    Table<DetailId, Detail> details;
    std::vector<Sample, LargeAllocator<Sample>> samples;
    std::unordered_map<std::uint64_t, StringId> cgroups;  ///< by number
    std::vector<std::uint32_t> cpu_sockets;               ///< of each CPU; empty: unknown
    std::vector<std::string> trace_fields;                ///< the fields of tracepoints that samples have, by name
    std::vector<Frame> all_frames;                        ///< of all locations, one after the other
    Recording recording;
    bool whole_source_paths = false;  ///< texts of source lines have the directories of files

    /// The functions that are active at a location, from the innermost inlined one to the one that has the symbol.
    std::span<const Frame> frames(const Location& location) const {
        return std::span{all_frames}.subspan(location.first_frame, location.frame_count);
    }
    std::span<const Frame> frames(LocationId id) const { return frames(locations[id]); }

    std::string_view text(StringId id) const { return strings[id]; }
};

}  // namespace anyperf::profile
