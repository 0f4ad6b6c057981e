// capabilities.h: whether the calling thread has a privilege (capabilities(7)).
#pragma once

#include <linux/capability.h>

#include "engine/freestanding/kernel.h"

namespace anyperf::engine {

/// Whether a capability below 32 is effective.
inline bool has_capability(unsigned capability) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2]{};
    return !is_error(kernel_call(__NR_capget, address_of(&header), address_of(data))) &&
           (data[0].effective >> capability & 1) != 0;
}

}  // namespace anyperf::engine
