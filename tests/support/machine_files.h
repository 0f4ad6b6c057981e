// machine_files.h: a machine made of a few files, for tests of what is read below a host::Root.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf {

/// A directory that is gone at the end of the test.
class MachineFiles {
  public:
    MachineFiles() {
        std::string name = (std::filesystem::temp_directory_path() / "anyperf-machine-XXXXXX").string();
        directory_ = ::mkdtemp(name.data());
    }
    ~MachineFiles() {
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    MachineFiles(const MachineFiles&) = delete;
    MachineFiles& operator=(const MachineFiles&) = delete;

    /// `text` and a newline, as the kernel's files end.
    MachineFiles& file(std::string_view absolute, std::string_view text) {
        std::ofstream{made(absolute)} << text << '\n';
        return *this;
    }
    MachineFiles& link(std::string_view absolute, std::string_view target) {
        std::filesystem::create_symlink(target, made(absolute));
        return *this;
    }

    host::Root root() const { return host::Root{directory_}; }

  private:
    std::filesystem::path made(std::string_view absolute) const {
        auto path = directory_ / absolute.substr(1);
        std::filesystem::create_directories(path.parent_path());
        return path;
    }
    std::filesystem::path directory_;
};

}  // namespace anyperf
