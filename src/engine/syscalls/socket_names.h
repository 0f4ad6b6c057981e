// socket_names.h: names that the kernel gives to sockets, in a deterministic run: of Unix sockets, and port ids of
// netlink (ports.h has the ports of the internet).
//
// A Unix socket that is bound to no name gets one of five hexadecimal digits, which the kernel draws (unix_autobind()
// in net/unix/af_unix.c). Programs see 00001, 00002 and so on instead, in all addresses that they give or get and in
// /proc/net/unix. A name of this form that a program of the run has chosen stays as it is.
//
// A netlink socket that is bound to no port id gets the id of its process, or if that is taken, a number that the
// kernel draws. A deterministic run binds it to the id of the process that programs see, or else to -4097, -4098 and so
// on. Messages have this id in their heads, so it is chosen and not translated.
//
// LIMITS. A netlink socket that sends without an address before it is bound has the kernel's port id. If another run of
// the machine has a netlink socket of the same number at that moment, the next number is taken. More than 4,096 names
// of Unix sockets are the kernel's.
#pragma once

#include <linux/netlink.h>

#include <cstdint>

#include "engine/syscalls/call.h"

namespace anyperf::engine {

/// What follows the family in the address of a Unix socket whose name the kernel has chosen.
struct ChosenName {
    static constexpr std::uint32_t kBytes = 8;  ///< of such an address, with the family

    char nul;
    char digits[5];

    /// Whether the name has this form.
    bool is_chosen() const;
};

/// Replaces what programs see by the kernel's name, and the reverse.
void give_real_name(const Engine& engine, ChosenName& name);
void show_name(const Engine& engine, ChosenName& name);

/// The port id that a netlink socket gets first.
std::uint32_t first_port_id(const Thread& thread);
/// The first one was refused: binds the socket to another one.
long bind_to_another_id(const Call& call, sockaddr_nl address);
/// Binds a netlink socket that is not bound, before the kernel does so.
void bind_if_unbound(const Call& call);

}  // namespace anyperf::engine
