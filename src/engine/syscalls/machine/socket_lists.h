// socket_lists.h: the lists of sockets below /proc/net, of which programs of a deterministic run see those that the run
// has made (made_files.h): by their inode numbers, with the ports that the run shows, and without timers and addresses
// of the kernel.
#pragma once

#include <cstdint>

#include "engine/engine.h"
#include "engine/freestanding/copied_text.h"

namespace anyperf::engine {

/// Adds the lines of the list, whose text has been read. `local`: /proc/net/unix, else one of the internet's.
void put_own_sockets(const Engine& engine, bool local, CopiedText& list);

/// One end of a TCP connection, by the kernel's port. Of an IPv6 address the last 4 bytes, in their order.
struct TcpEnd {
    std::uint32_t address;
    std::uint32_t port;

    bool operator==(const TcpEnd&) const = default;
};

/// Whether the run has made the socket of the connection between these two ends. False if the lists can't be read.
bool has_made_connection(const Engine& engine, const TcpEnd& own, const TcpEnd& other);

}  // namespace anyperf::engine
