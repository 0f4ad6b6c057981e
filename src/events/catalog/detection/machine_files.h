// machine_files.h: the few files of a machine that PMU detection reads, without allocation.
//
// pfm_initialize(3) does this detection in every short program that uses libpfm, so it must be cheap. Paths are built
// on the stack; a path that is too long counts as missing. read_all() and visit_entries() allocate: detection itself
// does not call them, only the first lookup of a tracepoint does.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace anyperf::catalog {

/// Files below a root directory; "" or "/" is this machine.
class Files {
  public:
    explicit Files(std::string_view root);

    bool is_this_machine() const { return root_length_ == 0; }
    /// Whether the path that `pieces` make up exists.
    bool exists(std::initializer_list<std::string_view> pieces) const;
    /// Whether this process may read and search the directory. Does not check that the path is a directory.
    bool is_searchable(std::initializer_list<std::string_view> pieces) const;
    /// The beginning of the file, as much as fits into `buffer`; nothing if it can't be read.
    std::optional<std::string_view> read(std::initializer_list<std::string_view> pieces, std::span<char> buffer) const;
    /// The whole file; empty if it can't be read. For files of /proc, which have no size.
    std::string read_all(std::initializer_list<std::string_view> pieces) const;
    /// Calls `visit` with the name of each entry of a directory but "." and "..", in the order of the kernel.
    void visit_entries(std::initializer_list<std::string_view> pieces,
                       const std::function<void(std::string_view)>& visit) const;

  private:
    static constexpr std::size_t kLongest = 4096;
    using Path = std::array<char, kLongest>;
    /// root + pieces + NUL; false if it does not fit.
    bool join(std::initializer_list<std::string_view> pieces, Path& path) const;

    std::array<char, kLongest / 2> root_;
    std::size_t root_length_ = 0;
};

/// Returns the value of the first line "KEY<blanks>: VALUE" at or after `from`, and moves `from` past that line.
/// Nothing if there is no such line; `from` is then at the end.
std::optional<std::string_view> cpuinfo_value(std::string_view cpuinfo, std::string_view key, std::size_t& from);

}  // namespace anyperf::catalog
