// tables.h: the output formats of `anyperf report`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"
#include "cli/output/output.h"
#include "profile/call_tree.h"
#include "profile/profile.h"
#include "profile/rows.h"

namespace anyperf::cli {

/// A column of the table: a number of the row, or the text of a key.
struct Column {
    enum class Kind : std::uint8_t {
        total,   ///< share of the event, with what the row calls
        self,    ///< its own share
        system,  ///< the part of that in the kernel
        user,    ///< and outside of it
        samples,
        period,  ///< its own weight
        key
    };
    Kind kind = Kind::key;
    profile::Key key{};  ///< of Kind::key

    bool operator==(const Column&) const = default;
};

/// How stacks are shown below the rows (-g).
struct StackOptions {
    enum class Style : std::uint8_t {
        none,
        graph,    ///< a tree with shares of the event
        fractal,  ///< a tree with shares of the function above
        flat,     ///< each stack below a share
        folded    ///< each stack in a line
    } style = Style::none;
    enum class Value : std::uint8_t { percent, period, count } value = Value::percent;
    profile::CallOrder order = profile::CallOrder::callee;
    profile::CallKey key = profile::CallKey::function;
    double least_percent = 0.5;          ///< functions below this share are left out
    std::size_t most = ~std::size_t{0};  ///< functions that one function is shown with
};

/// The value of -g: words and numbers with commas, as for perf report. `percent_limit`: --percent-limit, which is the
/// least share of functions if `text` has none. Error: a word is unknown.
Result<StackOptions> stack_options(const std::string& text, profile::CallOrder default_order,
                                   std::optional<double> percent_limit);

/// What is shown of a report, beyond its keys.
struct TableOptions {
    profile::RowOptions rows{};
    std::vector<Column> columns{};  ///< of the text; its keys are those of `rows`, in that order
    std::string separator{};        ///< between the columns of the text, which then have no blanks; empty: aligned
    bool titles = true;             ///< lines that begin with #
    bool groups = true;             ///< of the text: one table for each group, with the shares of all members
    bool skip_empty = true;         ///< of the text: no tables of events without samples, if others have some
    std::size_t sorting_event = 0;  ///< of a group: the event by whose weights its rows are sorted
    StackOptions stacks{};          ///< below each row
    double percent_limit = 0.0;     ///< rows and callers below this share are left out
    bool keys_are_chosen = false;   ///< by -s: below a row that begins with its function, stacks begin with the next
    bool only_with_parent = false;  ///< only rows with a parent function (-x)
    std::vector<std::size_t> levels{};  ///< --hierarchy: how many keys each level has; empty: each row has all keys
};

/// Whether stacks begin below the row's own function, because the row begins with it.
inline bool skips_own_name(const TableOptions& options) {
    const std::vector<profile::Key>& keys = options.rows.keys;
    return options.keys_are_chosen && !keys.empty() && keys.front() == profile::Key::symbol;
}

/// The columns that -F names: overhead, overhead_children, overhead_sys, overhead_us, sample, period and keys. Error: a
/// name is unknown.
Result<std::vector<Column>> columns_named(const std::vector<std::string>& names);
/// Whether it is the name of a column that is no key, perhaps with a "+" before it.
bool names_number(std::string_view name);

/// A table for each event or group of events, as perf report --stdio lays it out.
void print_rows(const profile::Profile& profile, const TableOptions& options, Output& out);

/// The lines of a row's stacks, as perf has them (ui/stdio/hist.c); empty if none is heavy enough. `whole` is the
/// weight of the event. `skip_own`: the
/// row's own name is in the row.
std::string stacks_as_text(const profile::Profile& profile, const profile::Row& row, std::uint64_t whole, bool skip_own,
                           const StackOptions& options);

/// An array of {"event", the keys, "samples", "period"}, and with children "total"; with a call tree "callers".
std::string rows_as_json(const profile::Profile& profile, const TableOptions& options);

}  // namespace anyperf::cli
