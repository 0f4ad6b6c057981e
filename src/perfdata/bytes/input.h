// input.h: the bytes of a recording: a mapped file, or a stream that can be read once.
//
// A file is mapped, not read: records are used where they are, without a copy, and the kernel reads ahead. Two costs
// follow. The pages that were read count as this process's memory until they are given back (release_before). And a
// file that another process shortens meanwhile raises SIGBUS in this one; perf has the same limit.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "perfdata/cursor.h"

namespace anyperf::perfdata {

/// Owns the descriptor and the mapping.
class Input {
  public:
    /// "-" is standard input. It, too, is mapped if it is a regular file. Error: the file cannot be opened, is a
    /// directory or is empty.
    static Result<Input> open(const std::string& path);

    Input(Input&& other) noexcept;
    Input& operator=(Input&& other) noexcept;
    ~Input();

    /// The whole file, or empty if it is a stream.
    Bytes mapped() const { return {mapped_, size_}; }
    bool is_stream() const { return !mapped_; }

    /// Reads the next bytes of a stream. 0 at its end; fails if it can't be read.
    Result<std::size_t> read(std::byte* to, std::size_t room);

    /// Gives back the memory of what is before this offset of the mapped file, because it is not needed any more. A
    /// later access is allowed and reads the page again. Does nothing for a stream, or if less than 4 MiB would be
    /// given back.
    void release_before(std::size_t offset);
    /// The same at once, for what is needed again but not soon. Does nothing for a stream.
    void drop_before(std::size_t offset);

  private:
    Input(int fd, const std::byte* mapped, std::size_t size) : fd_(fd), mapped_(mapped), size_(size) {}
    void close();

    int fd_ = -1;
    const std::byte* mapped_ = nullptr;
    std::size_t size_ = 0;
    std::size_t released_ = 0;
};

}  // namespace anyperf::perfdata
