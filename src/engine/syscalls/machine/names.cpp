#include <errno.h>
#include <sys/utsname.h>

#include <algorithm>

#include "engine/syscalls/handlers.h"
#include "engine/syscalls/machine_names.h"
#include "engine/syscalls/ports.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

template <std::size_t Size>
void set_name(char (&field)[Size], std::string_view name) {
    std::ranges::fill(field, '\0');
    std::ranges::copy(name.substr(0, Size - 1), field);
}

}  // namespace

bool shows_names(const Engine& engine) {
    return has_virtual_clock(engine) && __atomic_load_n(&shown_ports(engine).names_set, __ATOMIC_RELAXED) == 0;
}

namespace handlers {

long uname(Call& call) {
    const long answer = call.pass_to_kernel();
    if (answer != 0 || !shows_names(call.engine)) return answer;
    struct utsname names;
    if (!x86_64::guarded_copy(&names, at_address<const void>(call.argument[0]), sizeof names)) return -EFAULT;
    set_name(names.nodename, kShownHost);
    set_name(names.release, kShownRelease);
    set_name(names.version, kShownVersion);
    return x86_64::guarded_copy(at_address<void>(call.argument[0]), &names, sizeof names) ? 0 : -EFAULT;
}

long sethostname(Call& call) {
    const long answer = call.pass_to_kernel();
    if (answer == 0 && has_virtual_clock(call.engine))
        __atomic_store_n(&shown_ports(call.engine).names_set, 1, __ATOMIC_RELAXED);
    return answer;
}

}  // namespace handlers

}  // namespace anyperf::engine
