#include "cli/diff/computed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>
#include <vector>

#include "cli/command/target_options.h"

namespace anyperf::cli {

namespace {

using profile::DiffCell;
using profile::DiffRow;
using Kind = Computation::Kind;

constexpr std::size_t kNumberWidth = 14, kFormulaWidth = 70;  // as in perf

struct KindName {
    std::string_view name;
    Kind kind;
    std::string_view title;
    std::size_t width;
};
constexpr std::array kKinds{
    KindName{"delta", Kind::delta, "Delta", 7},
    KindName{"delta-abs", Kind::delta_abs, "Delta Abs", 9},
    KindName{"ratio", Kind::ratio, "Ratio", kNumberWidth},
    KindName{"wdiff", Kind::wdiff, "Weighted diff", kNumberWidth},
};

bool is_absent(const DiffCell& cell) {
    return cell.samples == 0;
}

const KindName& name_of(const Computation& computation) {
    return *std::ranges::find(kKinds, computation.kind, &KindName::kind);
}

bool take_factor(std::string_view& text, std::int64_t& factor) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
    if (error != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

/// A table that is written column by column.
class ComputedTable {
  public:
    ComputedTable(const ComparedEvent& compared, const DiffOptions& options, const ComputedOptions& computed)
        : compared_(compared), options_(options), computed_(computed) {
        for (const DiffRow& row : compared.diff.rows) {
            const bool left_out = computed.baseline_only && is_absent(row.cells.front());
            if (!left_out && is_shown(row, options)) rows_.push_back(&row);
        }
        sort();
    }

    std::string text() {
        fmt::format_to(out(), "# Event '{}'\n#\n", compared_.event);
        if (several()) add_files();
        add_columns();
        text_ += "# ";
        for (std::size_t i = 0; i < columns_.size(); ++i) add(i, columns_[i].title);
        text_ += aligned() ? "\n#\n" : "\n";
        for (const DiffRow* row : rows_) {
            if (aligned()) text_ += "  ";
            for (std::size_t i = 0; i < columns_.size(); ++i) add(i, columns_[i].text_of(*row));
            text_ += '\n';
        }
        return std::move(text_);
    }

  private:
    struct Column {
        std::string title;
        std::size_t width;
        bool is_key;
        std::function<std::string(const DiffRow&)> text_of;
    };

    bool aligned() const { return computed_.separator.empty(); }
    bool several() const { return compared_.files.size() > 2; }
    std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }

    void add(std::size_t column, const std::string& cell) {
        const bool last = column + 1 == columns_.size();
        if (column > 0) text_ += aligned() ? "  " : computed_.separator;
        const std::size_t width = aligned() ? columns_[column].width : 0;
        if (columns_[column].is_key)
            fmt::format_to(out(), "{:<{}}", cell, last ? 0 : width);
        else
            fmt::format_to(out(), "{:>{}}", cell, width);
    }

    void add_files() {
        text_ += "# Data files:\n";
        for (std::size_t i = 0; i < compared_.files.size(); ++i)
            fmt::format_to(out(), "#  [{}] {}{}\n", i, compared_.files[i], i == 0 ? " (Baseline)" : "");
        text_ += "#\n";
    }

    /// A value of a row and a recording: by it rows are sorted, the largest first. None: the row is not in the
    /// recording.
    std::optional<double> value(const DiffRow& row, std::size_t which) const {
        const DiffCell& base = row.cells.front();
        const DiffCell& cell = row.cells[which];
        if (is_absent(cell)) return {};
        const auto before = static_cast<double>(base.weight), now = static_cast<double>(cell.weight);
        switch (computed_.computation.kind) {
            case Kind::delta: return (cell.share - base.share) * 100.0;
            case Kind::delta_abs: return std::abs(cell.share - base.share) * 100.0;
            case Kind::ratio: return is_absent(base) ? -1.0 : now / before;
            case Kind::wdiff: return is_absent(base) ? -HUGE_VAL : static_cast<double>(weighted(base, cell));
        }
        return {};
    }

    std::int64_t weighted(const DiffCell& base, const DiffCell& cell) const {
        return static_cast<std::int64_t>(cell.weight) * computed_.computation.factor -
               static_cast<std::int64_t>(base.weight) * computed_.computation.baseline_factor;
    }

    void sort() {
        const std::size_t by = std::min(computed_.order, compared_.files.size() - 1);
        const auto key = [&](const DiffRow* row) {
            return by == 0 ? row->cells.front().share : value(*row, by).value_or(-HUGE_VAL);
        };
        const auto is_in = [&](const DiffRow* row) { return by == 0 || !is_absent(row->cells[by]); };
        std::ranges::stable_sort(rows_, [&](const DiffRow* a, const DiffRow* b) {
            return is_in(a) != is_in(b) ? is_in(a) : key(a) > key(b);
        });
    }

    std::string computed_text(const DiffRow& row, std::size_t which) const {
        const DiffCell& base = row.cells.front();
        const DiffCell& cell = row.cells[which];
        if (is_absent(cell)) return {};
        const Kind kind = computed_.computation.kind;
        if (kind == Kind::delta || kind == Kind::delta_abs)
            return fmt::format("{:+.2f}%", (cell.share - base.share) * 100.0);
        if (is_absent(base)) return "N/A";
        if (kind == Kind::wdiff) return std::to_string(weighted(base, cell));
        return fmt::format("{:.6f}", static_cast<double>(cell.weight) / static_cast<double>(base.weight));
    }

    std::string formula_text(const DiffRow& row, std::size_t which) const {
        const DiffCell& base = row.cells.front();
        const DiffCell& cell = row.cells[which];
        if (is_absent(cell)) return {};
        const Computation& computation = computed_.computation;
        switch (computation.kind) {
            case Kind::ratio: return fmt::format("{} / {}", cell.weight, base.weight);
            case Kind::wdiff:
                return fmt::format("({} * {}) - ({} * {})", cell.weight, computation.factor, base.weight,
                                   computation.baseline_factor);
            default:
                return fmt::format("({} * 100 / {}) - ({} * 100 / {})", cell.weight,
                                   compared_.diff.totals[which].weight, base.weight,
                                   compared_.diff.totals.front().weight);
        }
    }

    static std::string weight_text(const DiffCell& cell) {
        return is_absent(cell) ? std::string{} : std::to_string(cell.weight);
    }

    void add_column(std::string title, std::size_t width, std::function<std::string(const DiffRow&)> text_of) {
        columns_.push_back({title, std::max(width, title.size()), false, std::move(text_of)});
    }

    void add_columns() {
        const auto numbered = [&](std::string_view title, std::size_t which) {
            return several() ? fmt::format("{}/{}", title, which) : std::string{title};
        };
        add_column(numbered("Baseline", 0), 8, [](const DiffRow& row) {
            const DiffCell& base = row.cells.front();
            return is_absent(base) ? std::string{} : fmt::format("{:.2f}%", base.share * 100.0);
        });
        if (computed_.periods)
            add_column(numbered("Base period", 0), kNumberWidth,
                       [](const DiffRow& row) { return std::to_string(row.cells.front().weight); });
        for (std::size_t i = 1; i < compared_.files.size(); ++i) {
            const KindName& kind = name_of(computed_.computation);
            add_column(numbered(kind.title, i), kind.width,
                       [this, i](const DiffRow& row) { return computed_text(row, i); });
            if (computed_.periods)
                add_column(numbered("Period", i), kNumberWidth,
                           [i](const DiffRow& row) { return weight_text(row.cells[i]); });
            if (computed_.formula)
                add_column(numbered("Formula", i), kFormulaWidth,
                           [this, i](const DiffRow& row) { return formula_text(row, i); });
        }
        for (std::size_t i = 0; i < options_.keys.size(); ++i) {
            const std::string title{profile::title_of(options_.keys[i])};
            std::size_t width = title.size();
            for (const DiffRow* row : rows_) width = std::max(width, row->keys[i].size());
            columns_.push_back({title, width, true, [i](const DiffRow& row) { return row.keys[i]; }});
        }
    }

    const ComparedEvent& compared_;
    const DiffOptions& options_;
    const ComputedOptions& computed_;
    std::vector<const DiffRow*> rows_;
    std::vector<Column> columns_;
    std::string text_;
};

}  // namespace

Result<Computation> computation_named(const std::string& text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    std::string_view name{text}, factors{text};
    name = name.substr(0, colon);
    factors.remove_prefix(std::min(colon + 1, text.size()));
    const auto row = std::ranges::find(kKinds, name, &KindName::name);
    const auto refuse = [&](std::string_view cause) {
        return std::unexpected(bad_option("-c " + text, cause, "give delta, delta-abs, ratio or wdiff:W1,W2"));
    };
    if (row == kKinds.end()) return refuse(fmt::format("'{}' is not a computation", name));
    Computation computation{.kind = row->kind};
    if (row->kind != Kind::wdiff)
        return colon == text.size() ? Result<Computation>{computation} : refuse("only wdiff has numbers");
    const bool whole = take_factor(factors, computation.baseline_factor) && factors.starts_with(',') &&
                       (factors.remove_prefix(1), take_factor(factors, computation.factor)) && factors.empty();
    return whole ? Result<Computation>{computation} : refuse("it has no two whole numbers with a comma between them");
}

std::string diff_as_computed(const ComparedEvent& compared, const DiffOptions& options,
                             const ComputedOptions& computed) {
    return ComputedTable{compared, options, computed}.text();
}

}  // namespace anyperf::cli
