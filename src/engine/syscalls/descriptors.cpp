// descriptors.cpp: calls that close or replace file descriptors. The engine holds one, that of the run's memory, which
// the application neither knows nor may lose.
#include <errno.h>
#include <fcntl.h>

#include "engine/ledger.h"
#include "engine/syscalls/handlers.h"

namespace anyperf::engine::handlers {

namespace {

bool is_ours(const Call& call, std::uint64_t fd) {
    return call.engine.run_fd >= 0 && static_cast<std::uint32_t>(fd) == static_cast<std::uint32_t>(call.engine.run_fd);
}

}  // namespace

long close(Call& call) {
    return is_ours(call, call.argument[0]) ? -EBADF : call.pass();
}

long fcntl(Call& call) {
    return is_ours(call, call.argument[0]) ? -EBADF : call.pass();
}

long dup_onto(Call& call) {
    // The application may use the number: ours moves away.
    if (is_ours(call, call.argument[1])) move_run_fd(call.engine, true);
    return call.pass();
}

long close_range(Call& call) {
    const std::uint64_t first = call.argument[0];
    const std::uint64_t last = call.argument[1];
    const auto ours = static_cast<std::uint64_t>(call.engine.run_fd);
    if (call.engine.run_fd < 0 || first > ours || last < ours) return call.pass();
    long got = 0;
    if (first < ours) got = kernel_call(__NR_close_range, first, ours - 1, call.argument[2]);
    if (!is_error(got) && last > ours) got = kernel_call(__NR_close_range, ours + 1, last, call.argument[2]);
    return got;
}

}  // namespace anyperf::engine::handlers
