// inside.cpp: see inside.h.
#include "broker/inside.h"

#include <fstream>
#include <string>

#include "broker/run_memory.h"

namespace anyperf::broker {

bool inside_run() {
    // The engine maps the run's memory into each of its programs; a memfd stands there by its name.
    std::ifstream maps{"/proc/self/maps"};
    const std::string mapping = std::string{"/memfd:"} + kRunMemoryName + " ";
    for (std::string line; std::getline(maps, line);)
        if (line.find(mapping) != std::string::npos) return true;
    return false;
}

}  // namespace anyperf::broker
