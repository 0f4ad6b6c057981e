#include "engine/table.h"

#include <fstream>
#include <sstream>

namespace anyperf::engine_test {

std::vector<Row> read_table(const std::string& name, std::size_t columns) {
    std::ifstream file(ANYPERF_SOURCE_DIR "/tests/engine/" + name);
    std::vector<Row> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.starts_with('#')) continue;
        Row row;
        std::istringstream cells(line);
        for (std::string cell; std::getline(cells, cell, '\t');) row.push_back(cell);
        row.resize(columns);
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace anyperf::engine_test
