// columns.cpp: the names of a report's columns, as of perf report -F.
#include <algorithm>
#include <array>

#include "cli/report/tables.h"
#include "try.h"

namespace anyperf::cli {

namespace {

struct ColumnName {
    std::string_view name;
    Column::Kind kind;
};
constexpr std::array kColumnNames{
    ColumnName{"overhead", Column::Kind::self},       ColumnName{"overhead_children", Column::Kind::total},
    ColumnName{"overhead_sys", Column::Kind::system}, ColumnName{"overhead_us", Column::Kind::user},
    ColumnName{"sample", Column::Kind::samples},      ColumnName{"period", Column::Kind::period},
};

}  // namespace

bool names_number(std::string_view name) {
    if (name.starts_with('+')) name.remove_prefix(1);
    return std::ranges::find(kColumnNames, name, &ColumnName::name) != kColumnNames.end();
}

Result<std::vector<Column>> columns_named(const std::vector<std::string>& names) {
    std::vector<Column> columns;
    std::vector<std::string> keys;
    for (const std::string& name : names) {
        const auto row = std::ranges::find(kColumnNames, name, &ColumnName::name);
        if (row != kColumnNames.end()) {
            columns.push_back({row->kind, {}});
            continue;
        }
        const std::size_t before = keys.empty() ? 0 : TRY(profile::keys_named(keys))
        .size();
        keys.push_back(name);
        const std::vector<profile::Key> known = TRY(profile::keys_named(keys));
        if (known.size() > before) columns.push_back({Column::Kind::key, known.back()});
    }
    return columns;
}

}  // namespace anyperf::cli
