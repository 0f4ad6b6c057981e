// descriptors.cpp: calls that close or replace file descriptors. The engine holds two, of the run's memory and to who
// hosts the run, which the application neither knows nor may lose.
#include <errno.h>
#include <fcntl.h>

#include <tuple>
#include <utility>

#include "engine/ledger.h"
#include "engine/syscalls/handlers.h"

namespace anyperf::engine::handlers {

long not_hidden(Call& call) {
    return is_hidden(call.engine, call.argument[0]) ? -EBADF : call.pass();
}

long dup_onto(Call& call) {
    // The application may use the number: ours moves away.
    give_up_number(call.engine, call.argument[1]);
    return call.pass();
}

long close_range(Call& call) {
    const auto [first, last, flags] = std::tuple{call.argument[0], call.argument[1], call.argument[2]};
    if (static_cast<std::uint32_t>(first) > static_cast<std::uint32_t>(last)) return call.pass();
    // In pieces between the hidden ones, lowest first.
    int hidden[] = {call.engine.run_fd, call.engine.broker_fd};
    if (hidden[0] > hidden[1]) std::swap(hidden[0], hidden[1]);
    std::uint64_t from = static_cast<std::uint32_t>(first);
    const std::uint64_t to = static_cast<std::uint32_t>(last);
    for (const int ours : hidden) {
        const auto number = static_cast<std::uint64_t>(ours);
        if (ours < 0 || number < from || number > to) continue;
        const long got = number > from ? kernel_call(__NR_close_range, from, number - 1, flags) : 0;
        if (is_error(got)) return got;
        from = number + 1;
    }
    return from <= to ? kernel_call(__NR_close_range, from, to, flags) : 0;
}

}  // namespace anyperf::engine::handlers
