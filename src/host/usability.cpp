#include "host/usability.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>

#include "abi/attr_flags.h"
#include "abi/attr_sizes.h"
#include "abi/event_ids.h"
#include "host/causes/attr_bits.h"
#include "host/causes/pmu_names.h"
#include "host/kernel/sysctl.h"
#include "host/kernel/tracefs.h"
#include "host/open_failure.h"
#include "host/process/privileges.h"
#include "host/process/process_status.h"

namespace anyperf::host {

namespace {

using causes::core_pmus;
using causes::pmu_of_type;

/// The names of a Use. Rows are in the order of the enum.
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
    Word{Use::unknown, "not known", "unknown"},
    Word{Use::user_space, "counted in user space", "user-space"},
};

const Word& row(Use use) {
    return kWords[static_cast<std::size_t>(use)];
}

/// Whether the machine has the PMU that the event is for.
bool has_pmu(const abi::Attr& attr, const Root& root) {
    return causes::for_core_pmu(attr.type) ? !core_pmus(root).empty() : !pmu_of_type(root, attr.type).empty();
}

OpenCall user_mode(OpenCall call) {
    call.attr.flags |= abi::flag("exclude_kernel");
    return call;
}

/// The use of an event that may be counted in user mode only.
Use use_in_user_mode(const OpenCall& call, std::string_view event, const Root& root) {
    return happens_in_user_mode(call.attr, event, root) ? Use::user_only : Use::needs_privilege;
}

/// The use of an event whose open was refused with this errno. A null attr gives EFAULT from the kernel itself; if it
/// gives the same other errno as the event, something in front of the kernel answers (a seccomp filter). An event may
/// get EFAULT of its own, for example for a pointer in config1.
Use use_after_refusal(int errno_value, const OpenCall& call, const Root& root, const Kernel& kernel) {
    if (errno_value != EFAULT && kernel.try_null_attr() == errno_value) return Use::blocked;
    if (errno_value == EACCES || errno_value == EPERM) return Use::needs_privilege;
    return has_pmu(call.attr, root) ? Use::unsupported : Use::no_pmu;
}

/// The answer for this machine: opens the event. A child process makes the first call, because a seccomp filter may
/// kill the caller.
Usability usability_by_opening(const OpenCall& call, std::string_view event, const Root& root, const Kernel& kernel) {
    if (const auto deadly = why_opening_kills(event, root, kernel)) return {Use::blocked, *deadly};
    const int refused = kernel.try_open(call);
    if (refused == 0) return {};
    const Error why = why_open_failed(call, refused, event, root, kernel);
    const bool may_differ = refused == EACCES && (call.attr.flags & abi::flag("exclude_kernel")) == 0;
    if (!may_differ) return {use_after_refusal(refused, call, root, kernel), why};
    const int refused_too = kernel.try_open(user_mode(call));
    if (refused_too == 0) return {use_in_user_mode(call, event, root), why};
    // The PMU can't exclude kernel mode, so the event needs the right to count it.
    if (refused_too == EINVAL || refused_too == EOPNOTSUPP) return {Use::needs_privilege, why};
    return {use_after_refusal(refused_too, call, root, kernel),
            why_open_failed(user_mode(call), refused_too, event, root, kernel)};
}

/// The first file that the answer for another machine needs and that the copy lacks; empty if it has them all.
std::string_view undecided_by(const Root& root) {
    constexpr std::string_view kPmus = "/sys/bus/event_source/devices", kLevel = "/proc/sys/kernel/perf_event_paranoid";
    if (!root.exists(kPmus)) return kPmus;
    const Privileges rights = privileges(root);
    return rights.has_perfmon() || rights.paranoid ? std::string_view{} : kLevel;
}

/// The errno that the kernel of another machine would answer, as far as its files show; 0 if they show no obstacle.
int expected_errno(const OpenCall& call, const Root& root) {
    const Privileges rights = privileges(root);
    if ((call.attr.flags & abi::flag("exclude_kernel")) == 0 && !rights.may_measure_kernel()) return EACCES;
    if (!has_pmu(call.attr, root)) return ENOENT;
    return call.pid == -1 && !rights.may_measure_cpus() ? EACCES : 0;
}

/// The answer for another machine: from its files. A locked down kernel makes no files in tracefs
/// (tracefs_create_file() in fs/tracefs/inode.c), so those of the copy are older than the lockdown.
Usability usability_from_files(const OpenCall& call, std::string_view event, const Root& root, const Kernel& kernel) {
    if (call.attr.type == abi::kTypeTracepoint && locked_down(root))
        return {Use::no_tracefs,
                {"cannot look up " + std::string{event},
                 "the kernel is locked down for confidentiality, so tracefs is closed (/sys/kernel/security/lockdown)",
                 "boot with lockdown=integrity or none"}};
    if (const auto unknown = why_unknown(event, root)) return {Use::unknown, *unknown};
    const int expected = expected_errno(call, root);
    if (expected == 0) return {};
    const int in_user_mode = expected_errno(user_mode(call), root);
    const Error why = why_open_failed(in_user_mode == 0 ? call : user_mode(call),
                                      in_user_mode == 0 ? expected : in_user_mode, event, root, kernel);
    if (in_user_mode == 0) return {use_in_user_mode(call, event, root), why};
    return {in_user_mode == EACCES ? Use::needs_privilege : Use::no_pmu, why};
}

}  // namespace

std::optional<Error> why_unknown(std::string_view event, const Root& root) {
    if (root.is_this_machine()) return std::nullopt;
    const std::string_view file = undecided_by(root);
    if (file.empty()) return std::nullopt;
    return Error{fmt::format("cannot tell whether {} can be opened", event), fmt::format("the copy has no {}", file),
                 "on that machine: anyperf explain --save DIR, which copies all that is needed"};
}

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
                 "a seccomp filter kills the process that calls perf_event_open (/proc/self/status: seccomp mode 2)",
                 "allow perf_event_open in the seccomp filter of whatever started this process"};
}

Usability usability(const OpenCall& call, std::string_view event, const Root& root, const Kernel& kernel) {
    return root.is_this_machine() ? usability_by_opening(call, event, root, kernel)
                                  : usability_from_files(call, event, root, kernel);
}

}  // namespace anyperf::host
