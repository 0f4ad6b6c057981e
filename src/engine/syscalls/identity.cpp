// identity.cpp: calls by which a program looks at itself, where it would see the engine instead.
#include <asm/prctl.h>
#include <errno.h>

#include "engine/syscalls/handlers.h"

namespace anyperf::engine::handlers {

long arch_prctl(Call& call) {
    constexpr std::uint64_t kShadowStackFirst = 0x5001;  // ARCH_SHSTK_ENABLE … ARCH_SHSTK_STATUS (6.6)
    constexpr std::uint64_t kShadowStackLast = 0x5005;
    switch (call.argument[0]) {
        case ARCH_SET_GS: call.thread.gs_base = call.argument[1]; return 0;
        case ARCH_GET_GS: *at_address<std::uint64_t>(call.argument[1]) = call.thread.gs_base; return 0;
        default:
            // Returns would not be those of the shadow stack: answered like a CPU that has none.
            if (call.argument[0] >= kShadowStackFirst && call.argument[0] <= kShadowStackLast) return -ENOTSUP;
            return call.pass();
    }
}

}  // namespace anyperf::engine::handlers
