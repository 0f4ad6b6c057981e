// socket_lists.h: the lists of sockets below /proc/net, of which programs of a deterministic run see those that the run
// has made (made_files.h): by their inode numbers, with the ports that the run shows, and without timers and addresses
// of the kernel.
#pragma once

#include "engine/engine.h"
#include "engine/freestanding/copied_text.h"

namespace anyperf::engine {

/// Adds the lines of the list, whose text has been read. `local`: /proc/net/unix, else one of the internet's.
void put_own_sockets(const Engine& engine, bool local, CopiedText& list);

}  // namespace anyperf::engine
