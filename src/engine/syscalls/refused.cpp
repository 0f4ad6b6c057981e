// refused.cpp: calls that are answered as by a kernel without them.
#include <errno.h>

#include "engine/syscalls/handlers.h"

namespace anyperf::engine::handlers {

long not_there(Call&) {
    return -ENOSYS;
}

}  // namespace anyperf::engine::handlers
