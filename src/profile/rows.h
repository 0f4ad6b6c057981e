// rows.h: a profile as a table: samples summed up by keys such as comm, dso and symbol.
//
// A sample belongs to the row of its innermost function ("self"). With `children` its weight is also added to the rows
// of all functions in its stack ("total"), once for each however often the function recurs. So the totals of all rows
// add up to more than the weight of the profile, as in `perf report --children`.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace anyperf::profile {

/// What samples are summed up by, with perf's names (perf report --sort).
enum class Key : std::uint8_t { comm, pid, tid, cpu, dso, symbol };

struct KeyName {
    std::string_view name;
    Key key;
    std::string_view title;  ///< of the column
};
inline constexpr std::array kKeyNames{
    KeyName{"comm", Key::comm, "Command"},     KeyName{"pid", Key::pid, "Pid"},
    KeyName{"tid", Key::tid, "Tid"},           KeyName{"cpu", Key::cpu, "CPU"},
    KeyName{"dso", Key::dso, "Shared Object"}, KeyName{"symbol", Key::symbol, "Symbol"},
    KeyName{"sym", Key::symbol, "Symbol"},
};

/// A row. `place` is a location of the row; its dso and function are meaningful if the keys have them.
struct Row {
    Context context;
    LocationId place = kNone<LocationId>;
    std::uint64_t samples = 0;        ///< that end here
    std::uint64_t self = 0;           ///< their weight
    std::uint64_t total = 0;          ///< weight of the samples that have the row anywhere in their stack
    std::vector<std::uint32_t> of{};  ///< indices of the samples that end here, if they were asked for
};

/// The rows of one event, and what their weights are a part of.
struct Rows {
    std::vector<Row> rows;  ///< the heaviest first: by total if it was asked for, else by self
    std::uint64_t samples = 0;
    std::uint64_t weight = 0;  ///< of all samples of the event
};

struct RowOptions {
    std::vector<Key> keys{Key::comm, Key::dso, Key::symbol};
    bool children = false;      ///< also compute totals, and add rows that only call
    bool keep_samples = false;  ///< fill Row::of
};

/// The rows of one event. Each key is named once at most. Takes time in the number of samples, and with `children` in
/// that of their frames.
Rows sum_up(const Profile& profile, EventId event, const RowOptions& options);

/// The function that a location belongs to, which is the outermost of its frames; none without a symbol.
FunctionId function_of(const Profile& profile, const Location& location);

/// "ns::f", or the address as perf prints it if there is no symbol.
std::string symbol_text(const Profile& profile, const Location& location);

}  // namespace anyperf::profile
