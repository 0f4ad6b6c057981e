// process.cpp: calls that end threads and processes.
#include "engine/syscalls/handlers.h"

namespace anyperf::engine::handlers {

long exit(Call& call) {
    return call.pass();
}

long exit_group(Call& call) {
    return call.pass();
}

long set_tid_address(Call& call) {
    return call.pass();
}

}  // namespace anyperf::engine::handlers
