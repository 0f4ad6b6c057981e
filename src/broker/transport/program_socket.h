// program_socket.h: sockets that programs pass to the broker: one end of a socket pair of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyperf::broker {

/// Whether the descriptor is one end of a SOCK_SEQPACKET pair that this process has made. The broker writes to it. A
/// program must not be able to make the broker write to another process.
bool is_program_socket(int fd, std::int32_t process);

/// Sends a message, with a copy of the descriptor unless it is -1. Does not wait: a program that does not read gets
/// nothing.
void send_with_descriptor(int socket, std::span<const std::byte> message, int descriptor);

}  // namespace anyperf::broker
