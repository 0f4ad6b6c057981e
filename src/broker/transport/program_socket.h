// program_socket.h: sockets that programs pass to the broker: one end of a socket pair of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyperf::broker {

// The broker writes to such a socket. A program must not be able to make the broker write to another process, or to
// what only the broker may write to. is_program_socket() is the whole check, in three system calls. An open makes the
// first one of them, and leaves the rest to the first write (OpenEvents), which most events never get.

/// Whether the descriptor is a socket whose other end this process has made (SO_PEERCRED).
bool is_made_by(int fd, std::int32_t process);

/// Whether the descriptor is a SOCK_SEQPACKET socket of AF_UNIX.
bool is_packet_socket(int fd);

/// Whether the descriptor is one end of a SOCK_SEQPACKET pair that this process has made.
bool is_program_socket(int fd, std::int32_t process);

/// Sends a message, with a copy of the descriptor unless it is -1. Does not wait: a program that does not read gets
/// nothing.
void send_with_descriptor(int socket, std::span<const std::byte> message, int descriptor);

}  // namespace anyperf::broker
