// descriptor_link.h: what the kernel says that a descriptor of this process refers to.
#pragma once

#include <asm/unistd.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/freestanding/kernel.h"
#include "engine/freestanding/text.h"

namespace anyperf::engine {

/// The link /proc/self/fd/N: the path of the file, or a name like "anon_inode:inotify" (proc_pid_fd(5)). It is in
/// `room`, and cut where that ends; empty if it can't be read.
inline std::string_view link_of_descriptor(std::uint64_t fd, std::span<char> room) {
    Line path;
    path.text("/proc/self/fd/").decimal(static_cast<std::int32_t>(fd)).text(std::string_view{"\0", 1});
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): it ends with a NUL
    const long bytes = kernel_call(__NR_readlink, address_of(path.view().data()), address_of(room.data()), room.size());
    return is_error(bytes) ? std::string_view{} : std::string_view{room.data(), static_cast<std::size_t>(bytes)};
}

}  // namespace anyperf::engine
