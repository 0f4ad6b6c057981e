// source_text.h: the lines of source files, read once each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace anyperf::annotation {

class SourceText {
  public:
    /// A file is looked for below `root` first, then at its own path. If `root` is empty it is only looked for at its
    /// own path.
    explicit SourceText(std::string root) : root_(std::move(root)) {}

    /// The text of a line without its end; lines are numbered from 1. Empty if the file cannot be read, is larger than
    /// 64 MiB, or has fewer lines. The view lives as long as this object.
    std::string_view line(std::string_view file, std::uint32_t number);

    /// The files that line() could not read, each with the reason.
    const std::map<std::string, std::string>& unreadable() const { return unreadable_; }

  private:
    struct File {
        std::string text;
        std::vector<std::string_view> lines;
    };
    File read(const std::string& path);

    std::string root_;
    std::map<std::string, File, std::less<>> files_;
    std::map<std::string, std::string> unreadable_;
};

}  // namespace anyperf::annotation
