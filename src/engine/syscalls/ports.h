// ports.h: ports of a deterministic run.
//
// The kernel draws the port of a socket that is bound to none, and programs print and compare it. In a deterministic
// run such a socket is bound to the next port from 61000 on. If that one is in use on the machine, or the socket gets
// its port by connect(2), the kernel chooses and programs see that number all the same: it is translated in every
// address that they give or get. Ports that a program of the run names stay as they are.
//
// The same calls have the names of other sockets (socket_names.h).
//
// LIMITS. Not translated in the messages of netlink. After 4,536 ports the first numbers are used again. A program
// outside of the run must know the kernel's port.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "engine/syscalls/call.h"
#include "engine/syscalls/socket_names.h"
#include "run/shown_ports.h"

namespace anyperf::engine {

run::ShownPorts& shown_ports(const Engine& engine);

/// The port that programs see for one of the kernel's.
std::uint16_t shown_port(const Engine& engine, std::uint16_t real);

/// A call of a deterministic run that may have an address of a socket. Made before the call.
class PortCall {
  public:
    explicit PortCall(Call& call);
    PortCall(const PortCall&) = delete;
    PortCall& operator=(const PortCall&) = delete;

    /// Called after the call. Returns what the program gets for `answer`.
    long finish(long answer) { return row_ != nullptr ? finish_row(answer) : answer; }

    struct Row;

  private:
    struct Local {
        sa_family_t family;
        ChosenName name;
    };
    static_assert(sizeof(Local) == ChosenName::kBytes);
    /// Every address that is translated.
    union Address {
        sockaddr_in four;
        sockaddr_in6 six;
        sockaddr_nl netlink;
        Local local;
    };

    bool read_address(std::uint64_t from, std::uint64_t bytes);
    void give_real_address();
    void give_real_port();
    void give_port_id();
    long bind_anywhere();
    void show_address(std::uint64_t at, std::uint64_t bytes) const;
    long finish_row(long answer);

    Call& call_;
    const Row* row_ = nullptr;
    std::uint64_t given_ = 0;  ///< the program's argument that is replaced; 0: none
    Address address_;          ///< what the kernel gets instead
    msghdr message_;           ///< sendmsg(2): likewise
    bool chooses_ = false;     ///< bind(2) to no port
    bool chooses_id_ = false;  ///< bind(2) of a netlink socket to no port id
    bool connects_ = false;    ///< connect(2) of a socket without a port
};

}  // namespace anyperf::engine
