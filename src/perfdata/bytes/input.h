// input.h: the bytes of a recording: a file, or a stream that can be read once.
//
// A file is mapped, and can be read as well. What is looked at here and there is used in the mapping. What is read from
// front to back is cheaper by read_at() into memory that is used again and again: each new page of a mapping is a page
// fault, and copying a page costs a tenth of that (below a hypervisor; 22 ms against 80 for 73 MB). Pages of the
// mapping count as this process's memory until they are given back (release_before). A file that another process
// shortens meanwhile raises SIGBUS where the mapping is used; perf has the same limit.
#pragma once

#include <cstddef>
#include <span>
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

    /// Reads a file's bytes from `offset` on, as many as there are and have room. Fails if they can't be read.
    Result<std::size_t> read_at(std::size_t offset, std::span<std::byte> to);

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
