// ioctl.cpp: from a request's number to its handler, as _perf_ioctl() in kernel/events/core.c.
//
// Facts about a request (number, kind of argument, size) are in abi::kIoctls. The agent reads that table as well: it
// copies the argument out of the program's memory before the call comes here. The table in this file adds the function.
// The two are joined by position, and the static_assert compares the names.
#include "subsystem/ioctl/ioctl.h"

#include <algorithm>
#include <array>

#include "abi/ioctls.h"
#include "subsystem/ioctl/enable.h"
#include "subsystem/ioctl/filter_and_bpf.h"
#include "subsystem/ioctl/modify.h"
#include "subsystem/ioctl/period.h"
#include "subsystem/ioctl/set_output.h"

namespace anyperf::subsystem {
namespace {

struct Row {
    std::string_view name;
    IoctlHandler handler;
};

/// In the order of abi::kIoctls, which has the numbers and the kinds of argument.
constexpr std::array kHandlers{
    Row{"PERF_EVENT_IOC_ENABLE", ioctl_enable},
    Row{"PERF_EVENT_IOC_DISABLE", ioctl_disable},
    Row{"PERF_EVENT_IOC_REFRESH", ioctl_refresh},
    Row{"PERF_EVENT_IOC_RESET", ioctl_reset},
    Row{"PERF_EVENT_IOC_PERIOD", ioctl_period},
    Row{"PERF_EVENT_IOC_SET_OUTPUT", ioctl_set_output},
    Row{"PERF_EVENT_IOC_SET_FILTER", ioctl_set_filter},
    Row{"PERF_EVENT_IOC_ID", ioctl_id},
    Row{"PERF_EVENT_IOC_SET_BPF", ioctl_set_bpf},
    Row{"PERF_EVENT_IOC_PAUSE_OUTPUT", ioctl_pause_output},
    Row{"PERF_EVENT_IOC_QUERY_BPF", ioctl_query_bpf},
    Row{"PERF_EVENT_IOC_MODIFY_ATTRIBUTES", ioctl_modify_attributes},
};
// A new ioctl without its row here, or in another order, does not compile.
static_assert(std::ranges::equal(kHandlers, abi::kIoctls, {}, &Row::name, &abi::Ioctl::name));

}  // namespace

Answer<IoctlAnswer> dispatch(std::uint32_t request, const IoctlCall& call) {
    const auto row = std::ranges::find(abi::kIoctls, request, &abi::Ioctl::request);
    if (row == abi::kIoctls.end()) return refuse(ENOTTY, "not an ioctl of a performance event");
    return kHandlers[static_cast<std::size_t>(row - abi::kIoctls.begin())].handler(call);
}

}  // namespace anyperf::subsystem
