// descriptor_kinds.h: what a descriptor is open on, as far as it decides how a deterministic run makes a call. A read
// or write of a byte is not to cost a second call of the kernel, so the answers are remembered: an open descriptor
// keeps its kind until it is closed or another file is put onto its number.
//
// LIMITS. A table of descriptors that tasks share without sharing memory, or the reverse, is not followed: then every
// answer is asked of the kernel. The child of a vfork has a table of its own and its parent's memory, so it asks, too.
// A thread that uses a descriptor while another one closes it may find the kind of the file before.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::engine {

enum class DescriptorKind : std::uint8_t {
    unknown,      ///< not asked yet
    never_waits,  ///< a file, directory or disk, /dev/null, /dev/zero or /dev/full
    random,       ///< /dev/random or /dev/urandom
    inotify,
    pipe,  ///< also a named one
    other,
};

/// What a descriptor of a pipe is open on, as fstat(2) reports it.
struct PipeFile {
    std::uint64_t device;
    std::uint64_t inode;
};

/// The kinds of a process's descriptors. Begins as zeros.
struct DescriptorKinds {
    static constexpr std::size_t kRemembered = 256;
    DescriptorKind of[kRemembered];
    PipeFile pipe[kRemembered];  ///< where `of` is DescriptorKind::pipe
    /// Where the file's entry is in run::MadeFiles, from 1 on, once the descriptor was written to or asked about;
    /// kNoMadeFile: what it is open on has none.
    std::uint32_t made_file[kRemembered];
    static constexpr std::uint32_t kNoMadeFile = UINT32_MAX;
    bool off;  ///< nothing is remembered

    void forget(std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t fd = first; fd <= last && fd < kRemembered; ++fd) {
            of[fd] = DescriptorKind::unknown;
            made_file[fd] = 0;
        }
    }
};

}  // namespace anyperf::engine
