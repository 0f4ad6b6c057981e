// kernel.h: brings the system calls of run/kernel_call.h into the engine's namespace.
#pragma once

#include "run/kernel_call.h"

namespace anyperf::engine {

using run::address_of;
using run::at_address;
using run::is_error;
using run::kernel_call;

}  // namespace anyperf::engine
