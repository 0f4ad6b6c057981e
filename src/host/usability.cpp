// usability.cpp: see usability.h.
#include "host/usability.h"

#include <array>
#include <cerrno>

#include "abi/attr_flags.h"
#include "abi/attr_sizes.h"
#include "abi/event_ids.h"
#include "host/causes/attr_bits.h"
#include "host/causes/pmus.h"
#include "host/open_failure.h"
#include "host/privileges.h"
#include "host/process_status.h"
#include "host/sysctl.h"

namespace anyperf::host {

namespace {

using causes::core_pmus;
using causes::pmu_of_type;

struct Word {
    Use use;
    std::string_view words;
    std::string_view id;
};

constexpr std::array kWords{
    Word{Use::yes, "usable", "yes"},
    Word{Use::user_only, "user mode only", "user-only"},
    Word{Use::needs_privilege, "needs privilege", "needs-privilege"},
    Word{Use::no_pmu, "no PMU", "no-pmu"},
    Word{Use::blocked, "blocked", "blocked"},
    Word{Use::no_tracefs, "no tracefs", "no-tracefs"},
    Word{Use::unsupported, "not supported", "unsupported"},
};

const Word& row(Use use) {
    return kWords[static_cast<std::size_t>(use)];
}

bool has_pmu(const abi::Attr& attr, const Root& root) {
    return causes::for_core_pmu(attr.type) ? !core_pmus(root).empty() : !pmu_of_type(root, attr.type).empty();
}

OpenCall user_mode(OpenCall call) {
    call.attr.flags |= abi::flag("exclude_kernel");
    return call;
}

/// What becomes of an event that may not be counted in kernel mode.
Use left_in_user_mode(const OpenCall& call, std::string_view event) {
    return abi::happens_in_user_mode(call.attr.type, call.attr.config, event) ? Use::user_only : Use::needs_privilege;
}

/// What an errno means for who may use the event.
Use meaning(int errno_value, const OpenCall& call, const Root& root, const Kernel& kernel) {
    if (kernel.try_null_attr() == errno_value) return Use::blocked;
    if (errno_value == EACCES || errno_value == EPERM) return Use::needs_privilege;
    return has_pmu(call.attr, root) ? Use::unsupported : Use::no_pmu;
}

Usability tried(const OpenCall& call, std::string_view event, const Root& root, const Kernel& kernel) {
    if (const auto deadly = why_opening_kills(event, root, kernel)) return {Use::blocked, *deadly};
    const int refused = kernel.try_open(call);
    if (refused == 0) return {};
    const Error why = why_open_failed(call, refused, event, root, kernel);
    const bool may_differ = refused == EACCES && (call.attr.flags & abi::flag("exclude_kernel")) == 0;
    if (!may_differ) return {meaning(refused, call, root, kernel), why};
    const int refused_too = kernel.try_open(user_mode(call));
    if (refused_too == 0) return {left_in_user_mode(call, event), why};
    // The PMU can't leave the kernel out (EINVAL), so it takes the right to count it.
    if (refused_too == EINVAL || refused_too == EOPNOTSUPP) return {Use::needs_privilege, why};
    return {meaning(refused_too, call, root, kernel),
            why_open_failed(user_mode(call), refused_too, event, root, kernel)};
}

/// The errno that the kernel of another machine would answer, as far as its files tell; 0 where nothing speaks against
/// it.
int foretold(const OpenCall& call, const Root& root) {
    const Privileges rights = privileges(root);
    if ((call.attr.flags & abi::flag("exclude_kernel")) == 0 && !rights.may_measure_kernel()) return EACCES;
    if (!has_pmu(call.attr, root)) return ENOENT;
    return call.pid == -1 && !rights.may_measure_cpus() ? EACCES : 0;
}

Usability told(const OpenCall& call, std::string_view event, const Root& root, const Kernel& kernel) {
    const int expected = foretold(call, root);
    if (expected == 0) return {};
    const int in_user_mode = foretold(user_mode(call), root);
    const Error why = why_open_failed(in_user_mode == 0 ? call : user_mode(call),
                                      in_user_mode == 0 ? expected : in_user_mode, event, root, kernel);
    if (in_user_mode == 0) return {left_in_user_mode(call, event), why};
    return {in_user_mode == EACCES ? Use::needs_privilege : Use::no_pmu, why};
}

}  // namespace

std::string_view words(Use use) {
    return row(use).words;
}

std::string_view id(Use use) {
    return row(use).id;
}

std::optional<Error> why_opening_kills(std::string_view event, const Root& root, const Kernel& kernel) {
    const auto self = process_status(root, "self");
    if (!self || self->seccomp_mode != 2 || null_attr_in_child(kernel) != kKilledByFilter) return std::nullopt;
    return Error{"cannot open " + std::string{event},
                 "a seccomp filter kills the process that calls perf_event_open (/proc/self/status: Seccomp 2)",
                 "allow perf_event_open in the seccomp filter of whatever started this process"};
}

Usability usability(const OpenCall& call, std::string_view event, const Root& root, const Kernel& kernel) {
    return root.is_this_machine() ? tried(call, event, root, kernel) : told(call, event, root, kernel);
}

}  // namespace anyperf::host
