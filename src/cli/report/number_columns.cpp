#include "cli/report/number_columns.h"

#include <fmt/format.h>

#include <iterator>

#include "cli/output/share_text.h"

namespace anyperf::cli {

namespace {

using profile::Row;

constexpr std::size_t kShareWidth = 8, kNumberWidth = 12;  // as in perf

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

/// The weight that a row is shown and sorted by.
std::uint64_t weight_of(const Row* row, const TableOptions& options) {
    if (!row) return 0;
    return options.rows.children ? row->total : row->self;
}

bool is_share(Column::Kind kind) {
    return kind != Column::Kind::samples && kind != Column::Kind::period;
}

std::uint64_t number_of(Column::Kind kind, const Row& row) {
    switch (kind) {
        case Column::Kind::total: return row.total;
        case Column::Kind::system: return row.kernel_self;
        case Column::Kind::user: return row.self - row.kernel_self;
        case Column::Kind::samples: return row.samples;
        default: return row.self;
    }
}

}  // namespace

bool is_heavier(const GroupRow& a, const GroupRow& b, const TableOptions& options) {
    const std::size_t events = a.of.size();
    const std::size_t first = options.sorting_event < events ? options.sorting_event : 0;
    for (std::size_t n = 0; n <= events; ++n) {
        const std::size_t i = n == 0 ? first : n - 1;
        const std::uint64_t left = weight_of(a.of[i], options), right = weight_of(b.of[i], options);
        if (left != right) return left > right;
    }
    return false;
}

double largest_share(const GroupRow& row, const std::vector<profile::Rows>& events, const TableOptions& options) {
    double largest = 0;
    for (std::size_t i = 0; i < events.size(); ++i)
        largest = std::max(largest, share(weight_of(row.of[i], options), events[i].weight));
    return largest;
}

std::size_t NumberColumns::width_of(Column::Kind kind) const {
    return ((is_share(kind) ? kShareWidth : kNumberWidth) + 1) * events_.size() - 1;
}

std::string_view NumberColumns::title_of(Column::Kind kind) const {
    switch (kind) {
        case Column::Kind::total: return "Children";
        case Column::Kind::self: return options_.rows.children ? "Self" : "Overhead";
        case Column::Kind::system: return "sys";
        case Column::Kind::user: return "usr";
        case Column::Kind::samples: return "Samples";
        case Column::Kind::period: return "Period";
        case Column::Kind::key: break;
    }
    return {};
}

void NumberColumns::append_title(Column::Kind kind, std::string& text) const {
    const std::string_view title = title_of(kind);
    if (aligned()) text.append(width_of(kind) - title.size(), ' ');
    text += title;
}

void NumberColumns::append(Column::Kind kind, const GroupRow& row, std::string& text) const {
    const auto out = std::back_inserter(text);
    for (std::size_t i = 0; i < events_.size(); ++i) {
        const std::uint64_t number = row.of[i] ? number_of(kind, *row.of[i]) : 0;
        if (i > 0) text += ' ';
        if (is_share(kind)) {
            append_share(share(number, events_[i].weight), aligned() ? kShareWidth - 1 : 0, text);
            text += '%';
        } else {
            fmt::format_to(out, "{:>{}}", number, aligned() ? kNumberWidth : 0);
        }
    }
}

}  // namespace anyperf::cli
