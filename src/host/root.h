// root.h: the machine whose files are read. "/" is this one; a directory that looks like a machine's root is another
// one (fixtures in tests, a copy of somebody's /sys and /proc).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::host {

class Root {
  public:
    explicit Root(std::filesystem::path directory = "/") : directory_(std::move(directory)) {}
    /// What is below `front`, too, is read there: the machine of a run, whose other files are this machine's.
    Root(std::filesystem::path directory, std::filesystem::path front)
        : directory_(std::move(directory)), front_(std::move(front)) {}

    /// True where the files are those of the machine we run on, so that system calls say the same as the files.
    bool is_this_machine() const { return directory_ == "/" && front_.empty(); }

    /// `absolute` ("/sys/…") as it is on this disk.
    std::filesystem::path path(std::string_view absolute) const;

    /// The whole file without its last newline. The Error's cause names the path and why it can't be read.
    Result<std::string> read(std::string_view absolute) const;

    /// Names in a directory, sorted, without "." and "..". Empty where it can't be read.
    std::vector<std::string> list(std::string_view absolute) const;

    bool exists(std::string_view absolute) const;

    /// What a symbolic link points to, as it is written; empty where there is none or it can't be read.
    std::string link(std::string_view absolute) const;

  private:
    std::filesystem::path directory_;
    std::filesystem::path front_;
};

}  // namespace anyperf::host
