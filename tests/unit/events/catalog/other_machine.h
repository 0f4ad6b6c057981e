// other_machine.h: a temporary directory that looks like another machine's root, with its sysfs PMUs and /proc/cpuinfo.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "events/catalog/tables.h"

namespace anyperf::catalog {

class OtherMachine {
  public:
    OtherMachine() {
        std::string name = std::filesystem::temp_directory_path() / "anyperf-machine-XXXXXX";
        directory_ = ::mkdtemp(name.data());
        write("/proc/sys/kernel/perf_event_paranoid", "2\n");
    }
    ~OtherMachine() { std::filesystem::remove_all(directory_); }
    OtherMachine(const OtherMachine&) = delete;
    OtherMachine& operator=(const OtherMachine&) = delete;

    const std::string& directory() const { return directory_; }

    void write(std::string_view path, std::string_view contents) {
        const std::filesystem::path file = directory_ + std::string{path};
        std::filesystem::create_directories(file.parent_path());
        std::ofstream{file} << contents;
    }

    void add_pmu(std::string_view name, std::uint32_t type) {
        write("/sys/bus/event_source/devices/" + std::string{name} + "/type", std::to_string(type) + "\n");
        types_.emplace(name, type);
    }

    /// Adds every PMU that the facts name, each with a type of its own from 100 up.
    void add_every_pmu() {
        for (const PmuRow& pmu : pmus()) {
            if (pmu.perf_names == 0) continue;
            for (const char* name = c_text(pmu.perf_names); *name != '\0'; name += std::string_view{name}.size() + 1)
                if (!types_.contains(std::string{name})) add_pmu(name, static_cast<std::uint32_t>(100 + types_.size()));
        }
    }

    const std::map<std::string, std::uint32_t>& types() const { return types_; }

  private:
    std::string directory_;
    std::map<std::string, std::uint32_t> types_;
};

}  // namespace anyperf::catalog
