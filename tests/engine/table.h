// table.h: reads the suites' tables: tab-separated rows; `#` begins a comment line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace anyperf::engine_test {

using Row = std::vector<std::string>;

/// The rows of tests/engine/NAME. Each has `columns` cells; cells missing at the end of a line are empty.
std::vector<Row> read_table(const std::string& name, std::size_t columns);

}  // namespace anyperf::engine_test
