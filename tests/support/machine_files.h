// machine_files.h: a machine made of a few files in a temporary directory, for tests of code that reads below a
// host::Root.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf {

/// The directory and its files; the destructor deletes them.
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

    /// Writes a file of `text` and a newline, with which the kernel's files end. `absolute` is its path on the machine.
    MachineFiles& file(std::string_view absolute, std::string_view text) {
        std::ofstream{prepare_path(absolute)} << text << '\n';
        return *this;
    }
    /// Makes a symbolic link at `absolute`.
    MachineFiles& link(std::string_view absolute, std::string_view target) {
        std::filesystem::create_symlink(target, prepare_path(absolute));
        return *this;
    }

    host::Root root() const { return host::Root{directory_}; }

  private:
    /// The file's path on this machine; makes its directories.
    std::filesystem::path prepare_path(std::string_view absolute) const {
        auto path = directory_ / absolute.substr(1);
        std::filesystem::create_directories(path.parent_path());
        return path;
    }
    std::filesystem::path directory_;
};

}  // namespace anyperf
