// files.h: the few files of a machine that detection looks at, without allocation: pfm_initialize(3) is called by every
// short program of its users.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace anyperf::catalog {

/// Paths below a root directory ("" is this machine).
class Files {
  public:
    explicit Files(std::string_view root);

    bool is_this_machine() const { return root_length_ == 0; }
    /// Whether the path, put together from `pieces`, is there.
    bool exists(std::initializer_list<std::string_view> pieces) const;
    /// Whether it is a directory that we may read and search.
    bool searchable(std::initializer_list<std::string_view> pieces) const;
    /// As much of the file as fits into `buffer`; nothing where it can't be read.
    std::optional<std::string_view> read(std::initializer_list<std::string_view> pieces, std::span<char> buffer) const;

  private:
    static constexpr std::size_t kLongest = 4096;
    using Path = std::array<char, kLongest>;
    bool join(std::initializer_list<std::string_view> pieces, Path& path) const;

    std::array<char, kLongest / 2> root_;
    std::size_t root_length_ = 0;
};

/// The value of the first line "KEY<blanks>: VALUE" after `from`; moves `from` behind it. Nothing: no such line.
std::optional<std::string_view> cpuinfo_value(std::string_view cpuinfo, std::string_view key, std::size_t& from);

}  // namespace anyperf::catalog
