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
    /// Files are also looked for below `root`, before their own place; empty: only there.
    explicit SourceText(std::string root) : root_(std::move(root)) {}

    /// The text of a line without its end; empty if the file cannot be read, or has fewer lines.
    std::string_view line(std::string_view file, std::uint32_t number);

    /// The files that were asked for and could not be read, with the reason.
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
