// root.h: the directory below which the files of a machine are read. "/" is this machine. Any other directory is
// another machine of which there are only files: a fixture of a test, or a copy of somebody's /sys and /proc (--root).
//
// Files of another machine are untrusted input: they may have any content and any size.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::host {

/// Files of /proc and /sys are smaller: the largest, /proc/cpuinfo of 8192 CPUs, has some 13 MB.
inline constexpr std::size_t kMostFileBytes = 32 << 20;

/// Cheap to copy. The arguments are paths as seen on the machine ("/sys/…").
class Root {
  public:
    explicit Root(std::filesystem::path directory = "/") : directory_(std::move(directory)) {}
    /// With an overlay: files that exist below `overlay` are read there, all others below `directory`. The machine of a
    /// run is this machine with the files of the virtual PMU laid over it. Directories are not merged.
    Root(std::filesystem::path directory, std::filesystem::path overlay)
        : directory_(std::move(directory)), overlay_(std::move(overlay)) {}

    /// Whether the files are those of the machine that runs this program, so that system calls and files agree.
    bool is_this_machine() const { return directory_ == "/" && overlay_.empty(); }

    /// Whether the files are those of this machine, with or without an overlay. Only then a path may be relative to the
    /// working directory.
    bool is_below_slash() const { return directory_ == "/"; }

    /// Where the file `absolute` is in the file system of this machine.
    std::filesystem::path path(std::string_view absolute) const;

    /// A descriptor of the file, which the caller closes. Error: it can't be opened, or is not a regular file, such as
    /// a FIFO, which would have no end. `what` names the path.
    Result<int> open(std::string_view absolute) const;

    /// The whole file without its last newline. Error: as of open(), or it has more than kMostFileBytes.
    Result<std::string> read(std::string_view absolute) const;

    /// The names in a directory, sorted, without "." and "..". Empty if it can't be read.
    std::vector<std::string> list(std::string_view absolute) const;

    bool exists(std::string_view absolute) const;

    /// The text of a symbolic link; empty if it is not a link or can't be read.
    std::string link(std::string_view absolute) const;

  private:
    std::filesystem::path directory_;
    std::filesystem::path overlay_;  ///< empty: none
};

}  // namespace anyperf::host
