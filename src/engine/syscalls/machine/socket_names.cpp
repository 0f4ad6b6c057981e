#include "engine/syscalls/socket_names.h"

#include <asm/unistd.h>
#include <errno.h>
#include <sys/socket.h>

#include <string_view>

#include "engine/shown_ids.h"
#include "engine/syscalls/objects.h"

namespace anyperf::engine {

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::uint32_t number_of(const ChosenName& name) {
    std::uint32_t number = 0;
    for (const char digit : name.digits) number = number << 4 | static_cast<std::uint32_t>(kDigits.find(digit) & 15);
    return number;
}

void set_number(ChosenName& name, std::uint64_t number) {
    for (unsigned i = 0; i < 5; ++i) name.digits[i] = kDigits[number >> (4 * (4 - i)) & 15];
}

}  // namespace

bool ChosenName::is_chosen() const {
    bool all = nul == '\0';
    for (const char digit : digits) all = all && kDigits.find(digit) != std::string_view::npos;
    return all;
}

void give_real_name(const Engine& engine, ChosenName& name) {
    run::ShownObjects& objects = shown_objects(engine);
    const std::uint32_t named = number_of(name);
    if (named - 1 < run::ShownObjects::kObjects) {
        const std::uint64_t real = objects.chosen_names.kernels(named);
        if (real != ~std::uint64_t{0}) return set_number(name, real);
    }
    objects.given_names.number_of(named);
}

void show_name(const Engine& engine, ChosenName& name) {
    run::ShownObjects& objects = shown_objects(engine);
    const std::uint32_t real = number_of(name);
    if (objects.given_names.known_number_of(real) != 0) return;
    if (const std::uint32_t number = objects.chosen_names.number_of(real); number != 0) set_number(name, number);
}

std::uint32_t first_port_id(const Thread& thread) {
    return static_cast<std::uint32_t>(turns::shown_pid(thread));
}

// The kernel's own numbers begin there, too (netlink_autobind() in net/netlink/af_netlink.c).
long bind_to_another_id(const Call& call, sockaddr_nl address) {
    constexpr std::uint32_t kMost = 4096;
    long answer = -EADDRINUSE;
    address.nl_pid = static_cast<std::uint32_t>(-4097);
    for (std::uint32_t tries = 0; answer == -EADDRINUSE && tries < kMost; ++tries, --address.nl_pid)
        answer = kernel_call(__NR_bind, call.argument[0], address_of(&address), sizeof address);
    return answer;
}

void bind_if_unbound(const Call& call) {
    sockaddr_nl address{};
    std::uint32_t bytes = sizeof address;
    if (is_error(kernel_call(__NR_getsockname, call.argument[0], address_of(&address), address_of(&bytes))) ||
        address.nl_family != AF_NETLINK || address.nl_pid != 0)
        return;
    address.nl_pid = first_port_id(call.thread);
    const long answer = kernel_call(__NR_bind, call.argument[0], address_of(&address), sizeof address);
    if (answer == -EADDRINUSE) bind_to_another_id(call, address);
}

}  // namespace anyperf::engine
