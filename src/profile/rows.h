// rows.h: a profile as a table: samples summed up by keys such as comm, dso and symbol.
//
// A sample belongs to the row of its innermost function ("self"). With `children` its weight is also added to the rows
// of all functions in its stack ("total"), once for each row, however often the function recurs. So the totals of all
// rows add up to more than the weight of the profile, as in `perf report --children`.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"
#include "profile/profile.h"
#include "profile/symbol_pattern.h"

namespace anyperf::profile {

/// What samples are summed up by. kKeyNames has perf's names (perf report --sort).
enum class Key : std::uint8_t {
    comm,
    pid,
    tid,
    cpu,
    dso,
    symbol,
    source_line,
    source_file,
    trace,
    weight,
    memory_level,
    memory_snoop,
    memory_tlb,
    memory_lock,
    memory_block,
    data_address,
    physical_address,
    data_page_size,
    code_page_size,
    from_dso,
    from_symbol,
    from_line,
    to_dso,
    to_symbol,
    to_line,
    mispredicted,
    in_transaction,
    aborted,
    branch_cycles,
    total_weight,
    time,
    transaction,
    parent,
    socket,
    symbol_size,
    dso_size,
    cgroup,
    cgroup_id,
    instruction_latency,
    total_instruction_latency,
    stage_cycles,
    total_stage_cycles,
    address,
    from_address,
    to_address,
    data_symbol,
    data_dso,
    cache_line,
    code_symbol,
    trace_field  ///< the first of Profile::trace_fields; the next numbers are the next ones
};
/// So many fields of tracepoints may be keys.
inline constexpr std::size_t kMostTraceFields = 12;
constexpr bool is_trace_field(Key key) {
    return key >= Key::trace_field;
}
constexpr Key trace_field(std::size_t index) {
    return static_cast<Key>(static_cast<std::size_t>(Key::trace_field) + index);
}

struct KeyName {
    std::string_view name;
    Key key;
    std::string_view title;   ///< of the column
    Part part = Part::none;   ///< what a reader must keep for it
    bool needs_line = false;  ///< the source lines of locations, too
};
inline constexpr std::array kKeyNames{
    KeyName{"comm", Key::comm, "Command"},
    KeyName{"pid", Key::pid, "Pid"},
    KeyName{"tid", Key::tid, "Tid"},
    KeyName{"cpu", Key::cpu, "CPU"},
    KeyName{"dso", Key::dso, "Shared Object"},
    KeyName{"symbol", Key::symbol, "Symbol"},
    KeyName{"sym", Key::symbol, "Symbol"},
    KeyName{"srcline", Key::source_line, "Source:Line", Part::none, true},
    KeyName{"srcfile", Key::source_file, "Source File", Part::none, true},
    KeyName{"trace", Key::trace, "Trace output", Part::trace},
    KeyName{"local_weight", Key::weight, "Local Weight", Part::weight},
    KeyName{"weight", Key::total_weight, "Weight", Part::weight},
    KeyName{"mem", Key::memory_level, "Memory access", Part::data_source},
    KeyName{"snoop", Key::memory_snoop, "Snoop", Part::data_source},
    KeyName{"tlb", Key::memory_tlb, "TLB access", Part::data_source},
    KeyName{"locked", Key::memory_lock, "Locked", Part::data_source},
    KeyName{"blocked", Key::memory_block, "Blocked", Part::data_source},
    KeyName{"daddr", Key::data_address, "Data Address", Part::data_address},
    KeyName{"phys_daddr", Key::physical_address, "Data Physical Address", Part::physical_address},
    KeyName{"data_page_size", Key::data_page_size, "Data Page Size", Part::page_sizes},
    KeyName{"code_page_size", Key::code_page_size, "Code Page Size", Part::page_sizes},
    KeyName{"dso_from", Key::from_dso, "Source Shared Object", Part::branch},
    KeyName{"symbol_from", Key::from_symbol, "Source Symbol", Part::branch},
    KeyName{"srcline_from", Key::from_line, "From Source:Line", Part::branch, true},
    KeyName{"dso_to", Key::to_dso, "Target Shared Object", Part::branch},
    KeyName{"symbol_to", Key::to_symbol, "Target Symbol", Part::branch},
    KeyName{"srcline_to", Key::to_line, "To Source:Line", Part::branch, true},
    KeyName{"mispredict", Key::mispredicted, "Branch Mispredicted", Part::branch_flags},
    KeyName{"in_tx", Key::in_transaction, "Branch in transaction", Part::branch_flags},
    KeyName{"abort", Key::aborted, "Transaction abort", Part::branch_flags},
    KeyName{"cycles", Key::branch_cycles, "Basic Block Cycles", Part::branch_flags},
    KeyName{"time", Key::time, "Time", Part::time},
    KeyName{"transaction", Key::transaction, "Transaction", Part::transaction},
    KeyName{"parent", Key::parent, "Parent symbol"},
    KeyName{"socket", Key::socket, "Socket"},
    KeyName{"symbol_size", Key::symbol_size, "Symbol size"},
    KeyName{"dso_size", Key::dso_size, "DSO size"},
    KeyName{"cgroup", Key::cgroup, "Cgroup", Part::cgroup},
    KeyName{"cgroup_id", Key::cgroup_id, "cgroup id (dev/inode)", Part::cgroup_namespace},
    KeyName{"local_ins_lat", Key::instruction_latency, "Local INSTR Latency", Part::latencies},
    KeyName{"ins_lat", Key::total_instruction_latency, "INSTR Latency", Part::latencies},
    KeyName{"local_p_stage_cyc", Key::stage_cycles, "Local Pipeline Stage Cycle", Part::latencies},
    KeyName{"p_stage_cyc", Key::total_stage_cycles, "Pipeline Stage Cycle", Part::latencies},
    KeyName{"addr", Key::address, "Address", Part::address},
    KeyName{"addr_from", Key::from_address, "Source Address", Part::branch},
    KeyName{"addr_to", Key::to_address, "Target Address", Part::branch},
    KeyName{"symbol_daddr", Key::data_symbol, "Data Symbol", Part::data_place},
    KeyName{"dso_daddr", Key::data_dso, "Data Object", Part::data_place},
    KeyName{"dcacheline", Key::cache_line, "Data Cacheline", Part::data_place},
    KeyName{"symbol_iaddr", Key::code_symbol, "Code Symbol", Part::address},
};

/// A table has no more keys than this.
inline constexpr std::size_t kMostKeys = 12;

/// One of the functions that are active at a location: an index of Profile::frames(location).
using FrameIndex = std::uint16_t;
inline constexpr FrameIndex kSymbolFrame = 0xffff;  ///< the last: the function that has the symbol

/// Where a sample's stack passes through a row: a function that is active at the location of `stack`.
struct Passage {
    std::uint32_t sample = 0;  ///< index of Profile::samples
    StackId stack{};
    FrameIndex frame = 0;
};

/// A row. `place` is a location of the row; its dso and function are meaningful if the keys have them.
struct Row {
    Context context;
    LocationId place = kNone<LocationId>;
    FrameIndex frame = kSymbolFrame;        ///< which function at `place`
    FrameIndex line_frame = 0;              ///< whose source line; 0, the innermost, at the sample's own address
    FunctionId parent = kNone<FunctionId>;  ///< with RowOptions::parent: the innermost function that it matches
    std::uint64_t samples = 0;              ///< that end here
    std::uint64_t self = 0;                 ///< their weight
    std::uint64_t kernel_self = 0;          ///< the part of it that is in the kernel
    std::uint64_t total = 0;                ///< with `children`: weight of the samples that have the row in their stack
    std::uint32_t number = 0;               ///< for Rows::values_of()
    std::vector<std::uint32_t> sample_indices{};  ///< the samples that end here, with RowOptions::keep_samples
    std::vector<Passage> passages{};              ///< those that go on from here, with `children`, too
};

/// The rows of one event, and what their weights are a part of.
struct Rows {
    std::vector<Row, LargeAllocator<Row>> rows;  ///< the heaviest first: by total if it was asked for, else by self
    std::uint64_t samples = 0;
    std::uint64_t weight = 0;  ///< of all samples of the event
    std::size_t keys = 0;
    std::vector<std::uint64_t, LargeAllocator<std::uint64_t>> values{};  ///< of all rows, by their numbers

    /// The values of a row's keys as numbers: equal in rows of two events that are the same.
    std::span<const std::uint64_t> values_of(const Row& row) const {
        return std::span{values}.subspan(row.number * keys, keys);
    }
};

struct RowOptions {
    std::vector<Key> keys{Key::comm, Key::dso, Key::symbol};
    bool children = false;                  ///< also compute totals, and add rows that only call, or were inlined
    bool keep_samples = false;              ///< fill Row::sample_indices and Row::passages
    bool outermost_passage = false;         ///< of a function that recurs: where it was called first, not last
    const SymbolPattern* parent = nullptr;  ///< for Key::parent; it must outlive the summing up
    /// Of each sample: others belong to no row, but to the sums of all. Null: all do. It must outlive the summing up.
    const std::vector<bool>* admitted = nullptr;
};

/// Error: a name is unknown, and it lists the known ones; or there are more than kMostKeys.
Result<std::vector<Key>> keys_named(const std::vector<std::string>& names);

/// Whether it is the name of a key in kKeyNames.
bool is_key_name(std::string_view name);

/// The first row of a key in kKeyNames; of fields of tracepoints one without a name.
const KeyName& name_of(Key key);
/// The name of a key in a profile, and the title of its column.
std::string_view name_of(const Profile& profile, Key key);
std::string_view title_of(const Profile& profile, Key key);
/// The title of a key that does not depend on the profile: of any but a field of tracepoints.
inline std::string_view title_of(Key key) {
    return name_of(key).title;
}

/// What a reader must keep for these keys.
Parts parts_of(const std::vector<Key>& keys);
/// Whether one of the keys needs source lines.
bool need_lines(const std::vector<Key>& keys);

/// Whether the addresses of one function may be in several rows, so that a reader must keep them.
bool need_addresses(const std::vector<Key>& keys);

/// The rows of one event. Each key is named once at most. The time is proportional to the number of samples, and with
/// `children` to that of their frames.
Rows sum_up(const Profile& profile, EventId event, const RowOptions& options);

/// A function that is active at a location, by default the one that has the symbol; kNone without a symbol.
FunctionId function_of(const Profile& profile, const Location& location, FrameIndex frame = kSymbolFrame);

/// Appends what key_text() returns.
void append_key_text(const Profile& profile, Key key, const Row& row, std::string& text);

/// "ns::f", or the address as perf prints it if there is no symbol.
std::string symbol_text(const Profile& profile, const Location& location, FrameIndex frame = kSymbolFrame);

/// The value of a key as a number that is equal in all rows with the same text. Key::parent has none: it depends on the
/// stack.
std::uint64_t key_value(const Profile& profile, Key key, const Context& context, LocationId place, FrameIndex frame,
                        FrameIndex line_frame);

/// The value of a row's key for people: "[.] ns::f", "12".
std::string key_text(const Profile& profile, Key key, const Row& row);

/// "file.c:12" without the directory; without a line "f+24", or "libc.so.6[1a2b]", as perf has it.
std::string source_line_text(const Profile& profile, const Location& location, FrameIndex frame);

}  // namespace anyperf::profile
