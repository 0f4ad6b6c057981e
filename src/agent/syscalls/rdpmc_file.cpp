#include "agent/syscalls/rdpmc_file.h"

#include <fcntl.h>

#include "agent/broker_request.h"
#include "agent/syscalls/presented_file.h"

namespace anyperf::agent {

void before_rdpmc_open(engine::Call& call, std::string_view path, std::uint64_t& flags) {
    if (!path.ends_with("/cpu/rdpmc") || (flags & O_ACCMODE) == O_RDONLY) return;
    flags &= ~std::uint64_t{O_TRUNC};
    __atomic_store_n(&call.engine.run_use->rdpmc_file, 1, __ATOMIC_RELEASE);
}

bool write_rdpmc(engine::Call& call, long& answer) {
    if (!has_broker(call.engine)) return false;
    if (__atomic_load_n(&call.engine.run_use->rdpmc_file, __ATOMIC_ACQUIRE) == 0) return false;
    if (!writes_presented_file(call, call.argument[0], call.engine.run->rdpmc_file)) return false;
    BrokerRequest request{call.thread, run::RequestKind::allow_rdpmc};
    answer = request.from_application(call.argument[1], call.argument[2]).send();
    return true;
}

}  // namespace anyperf::agent
