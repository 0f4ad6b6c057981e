// source_text.h: the lines of source files, read once each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/debuginfod.h"

namespace anyperf::annotation {

/// Where the directories of a tree have moved to: `path` before a file's, of which the first `strip` parts are left
/// out. Not used if `path` is empty.
struct SourcePrefix {
    std::string path;
    std::size_t strip = 0;
};

class SourceText {
  public:
    /// A file is searched for in three places: with the prefix before its path, then below `root` unless that is empty,
    /// then at its own path. If it is in none of them, `servers` are asked, if there are any.
    explicit SourceText(std::string root, std::shared_ptr<symbols::Debuginfod> servers = {}, SourcePrefix prefix = {})
        : root_(std::move(root)), servers_(std::move(servers)), prefix_(std::move(prefix)) {}

    /// The build id of the code whose lines are wanted from now on: servers have sources by it. Empty: unknown.
    void use_build_id(std::string build_id) { build_id_ = std::move(build_id); }

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
    File& file_of(std::string_view path);
    std::string prefixed(std::string_view path) const;
    bool read(const std::string& path, std::string& text) const;

    std::string root_;
    std::shared_ptr<symbols::Debuginfod> servers_;
    SourcePrefix prefix_;
    std::string build_id_;
    std::map<std::string, File, std::less<>> files_;  // by path; those of servers by build id and path
    std::map<std::string, std::string> unreadable_;
};

}  // namespace anyperf::annotation
