// probe_list.cpp: see probe_list.h. The file itself lies in the run's directory, where the broker keeps what it says:
// it is known by its inode, so that descriptors may be copied and inherited as any other.
#include "resident/probe_list.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "resident/request.h"

namespace anyperf::resident {

using engine::address_of;
using engine::is_error;
using engine::kernel_call;

namespace {

bool names_list(std::string_view path, std::uint64_t flags) {
    return path.ends_with("/uprobe_events") && (flags & O_ACCMODE) != O_RDONLY;
}

std::uint64_t inode_of(std::uint64_t fd) {
    struct stat about{};
    return is_error(kernel_call(__NR_fstat, fd, address_of(&about))) ? 0 : about.st_ino;
}

}  // namespace

bool may_open_probe_list(engine::Call& call, std::string_view path, std::uint64_t flags, long& answer) {
    if (!names_list(path, flags) || (flags & O_TRUNC) == 0) return true;
    answer = Ask{call.thread, RequestKind::define_probes}.with(0, 1).send();
    return answer >= 0;
}

void opened_probe_list(engine::Call& call, std::string_view path, std::uint64_t flags, long answer) {
    if (is_error(answer) || !names_list(path, flags)) return;
    __atomic_store_n(&call.engine.run->probe_list, inode_of(static_cast<std::uint64_t>(answer)), __ATOMIC_RELEASE);
}

bool write_probe_list(engine::Call& call, long& answer) {
    if (!hosted(call.engine)) return false;
    const std::uint64_t list = __atomic_load_n(&call.engine.run->probe_list, __ATOMIC_ACQUIRE);
    if (list == 0 || inode_of(call.argument[0]) != list) return false;
    Ask ask{call.thread, RequestKind::define_probes};
    answer = ask.from_application(call.argument[1], call.argument[2]).send();
    return true;
}

}  // namespace anyperf::resident
