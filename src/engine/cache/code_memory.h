// code_memory.h: memory that code is written to and executed in.
//
// Mostly it is one mapping that is writable and executable. With *separate writes* it is a memory file with two
// mappings at different addresses: one is executable and never writable, the other is writable and never executable. So
// a stray or hostile write to an address of code faults. Everything but the writes uses the executable addresses; a
// writer adds to_writable() to them.
//
// Separate writes are used if the user wishes, and where the kernel refuses memory that is writable and executable: by
// prctl(2) PR_SET_MDWE, by a seccomp filter such as that of systemd's MemoryDenyWriteExecute, or by SELinux (execmem).
//
// A memory file is shared with the child of a fork, whose code must be its own. So the parent copies it before the fork
// (begin_copy()), and the child moves the copy to the addresses of the original (take_copy()). No descriptor is
// needed for that: the child may share the table of descriptors with its parent, and the table may be full.
//
// A CPU may execute old bytes that it has fetched before they were written at another address than the one that they
// are executed at (SDM volume 3, 11.6 "Self-Modifying Code"). written() makes it fetch them again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace anyperf::engine {

class CodeMemory {
  public:
    /// Maps `bytes` at the address, or wherever the kernel likes if that is 0, without guard pages. `exactly`: fails
    /// if there is another mapping. `separate`: with separate writes. Returns false if the kernel refuses.
    bool map_at(std::uint64_t address, std::uint64_t bytes, bool exactly, bool separate);
    /// Maps `bytes` with guard pages, wherever the kernel likes.
    bool map_guarded(std::uint64_t bytes, bool separate);

    std::uint64_t start() const { return start_; }  ///< 0: not mapped
    bool holds(std::uint64_t host) const { return host - start_ < bytes_; }
    bool has_separate_writes() const { return to_writable_ != 0; }
    /// What to add to an address of the code to get the one to write at; 0 without separate writes.
    std::ptrdiff_t to_writable() const { return to_writable_; }

    /// Frees the memory of these bytes, which read as zeros again.
    void discard(std::uint64_t offset, std::uint64_t bytes);
    /// Call it after code was written, before it is executed.
    void written() const;

    /// A part of the memory that is in use.
    struct Used {
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
    };
    /// Before a fork: copies what is in use, if the memory has separate writes. False if the kernel refuses.
    bool begin_copy(std::initializer_list<Used> used);
    /// In the parent after the fork, or instead of it: frees the copy, if there is one.
    void drop_copy();
    /// In the child, before anything uses the memory: the copy takes the place of the original. False if the kernel has
    /// no memory for its records: then the child must not go on, because it would write to its parent's code.
    bool take_copy();

  private:
    template <class Map, class Unmap>
    bool map_by(std::uint64_t bytes, bool separate, Map map, Unmap unmap);

    std::uint64_t start_ = 0;
    std::uint64_t bytes_ = 0;
    std::ptrdiff_t to_writable_ = 0;
    std::uint64_t copy_ = 0;  ///< the executable mapping of the copy; 0: there is none
    std::uint64_t writable_copy_ = 0;
};

}  // namespace anyperf::engine
