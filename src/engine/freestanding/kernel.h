// kernel.h: system calls without a libc (run/kernel_call.h), by their short names: the engine makes them everywhere.
#pragma once

#include "run/kernel_call.h"

namespace anyperf::engine {

using run::address_of;
using run::at_address;
using run::is_error;
using run::kernel_call;

}  // namespace anyperf::engine
