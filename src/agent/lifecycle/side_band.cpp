// side_band.cpp: after a system call, reports what side-band records describe: mappings, names, namespaces, cgroups,
// BPF.
//
// A report is a request to the broker, which costs more than most of these calls. So nothing is sent unless some event
// of the run wants records of the kind (`wanted_side_band` in run/facts.h, a bit for each Interest). The broker
// reads the rest, such as a file's name, inode and build id, from /proc. The thread waits meanwhile, so the broker
// finds what the call has made.
//
// Each report is answered before the thread's next instruction. A reader therefore finds the record of a mapping in the
// ring before this thread's samples from its code.
#include "agent/lifecycle/side_band.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <span>
#include <string_view>

#include "agent/broker_request.h"
#include "engine/freestanding/pages.h"
#include "engine/syscalls/application_maps.h"
#include "engine/syscalls/handlers.h"
#include "engine/threads/run_records.h"
#include "subsystem/records/record_interests.h"

namespace anyperf::agent {

using engine::Call;
using engine::Thread;
using subsystem::Interest;

namespace {

constexpr std::size_t kImageMappings = 64;  ///< at most, before a program's first instruction; usually about fifteen

/// Whether an event of the run requests records of this kind.
bool wanted(const engine::Engine& engine, Interest interest) {
    const std::uint32_t set = __atomic_load_n(&engine.run->wanted_side_band, __ATOMIC_ACQUIRE);
    return (set >> static_cast<unsigned>(interest) & 1) != 0;
}

/// A mapping as the call's arguments and result describe it.
struct NewMapping {
    std::uint64_t start;
    std::uint64_t bytes;
    std::uint64_t protection;
    std::uint64_t flags;
    run::MappingName name = run::MappingName::as_listed;
};

void report_mapped(Thread& thread, const NewMapping& mapping) {
    const bool executable = (mapping.protection & PROT_EXEC) != 0;
    if (!wanted(*thread.engine, executable ? Interest::executable_mapping : Interest::data_mapping)) return;
    BrokerRequest ask{thread, run::RequestKind::mapped};
    ask.argument(0, mapping.start)
        .argument(1, mapping.bytes)
        .argument(2, mapping.protection)
        .argument(3, mapping.flags);
    ask.argument(4, static_cast<std::uint64_t>(mapping.name)).send();
}

void report_renamed(Thread& thread) {
    BrokerRequest{thread, run::RequestKind::renamed}.payload(thread.page.comm, sizeof thread.page.comm).send();
}

/// The path of the descriptor's file, in `target`; empty if it does not fit there. The path is read from /proc/self/fd,
/// because the descriptor may have been opened long before, or by another name.
std::string_view path_of(std::uint64_t fd, std::span<char> target) {
    constexpr std::string_view kDirectory = "/proc/self/fd/";
    char path[32] = {};
    std::size_t end = kDirectory.copy(path, kDirectory.size());
    char digits[10];
    std::size_t count = 0;
    for (auto rest = static_cast<std::uint32_t>(fd); count == 0 || rest != 0; rest /= 10)
        digits[count++] = static_cast<char>('0' + rest % 10);
    while (count != 0) path[end++] = digits[--count];
    const long got =
        engine::kernel_call(__NR_readlink, engine::address_of(path), engine::address_of(target.data()), target.size());
    if (engine::is_error(got) || static_cast<std::size_t>(got) == target.size()) return {};
    return {target.data(), static_cast<std::size_t>(got)};
}

/// Whether the descriptor is of a file by which tasks are moved to a cgroup (cgroups(7)), of either version.
bool moves_tasks(std::uint64_t fd) {
    char target[4096];
    const std::string_view text = path_of(fd, target);
    return text.ends_with("/cgroup.procs") || text.ends_with("/cgroup.threads") || text.ends_with("/tasks");
}

/// The number before the last component of the path, 0 if there is none: of /proc/7/comm and /proc/7/task/8/comm the
/// thread.
std::int32_t thread_of_path(std::string_view path) {
    path = path.substr(0, path.rfind('/'));
    path.remove_prefix(path.rfind('/') + 1);
    std::int32_t number = 0;
    for (const char digit : path) {
        if (digit < '0' || digit > '9' || number > 0x3fffff) return 0;
        number = number * 10 + (digit - '0');
    }
    return number;
}

/// Reports a new name if the write went to the file `comm` of a thread of this process.
void report_written_name(const Call& call) {
    char path[64] = {};
    if (!wanted(call.engine, Interest::comm)) return;
    const std::string_view text = path_of(call.argument[0], {path, sizeof path - 1});
    const std::int32_t tid = text.starts_with("/proc/") && text.ends_with("/comm") ? thread_of_path(text) : 0;
    if (tid == 0) return;
    if (tid == call.thread.tid) {
        engine::update_names(call.thread);
        return report_renamed(call.thread);
    }
    char name[sizeof call.thread.page.comm] = {};
    const long fd = engine::kernel_call(__NR_open, engine::address_of(path), O_RDONLY | O_CLOEXEC);
    if (engine::is_error(fd)) return;
    const long got =
        engine::kernel_call(__NR_read, static_cast<std::uint64_t>(fd), engine::address_of(name), sizeof name);
    engine::kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
    if (got <= 0) return;
    name[got - 1] = 0;  // the newline
    BrokerRequest{call.thread, run::RequestKind::renamed}
        .argument(0, static_cast<std::uint64_t>(tid))
        .payload(name, sizeof name)
        .send();
}

/// Sends the broker the descriptor of the new directory or BPF program. The broker examines it and writes the record.
void report_made(Thread& thread, run::RequestKind kind, int fd) {
    BrokerRequest{thread, kind}.descriptor(fd).send();
}

/// Reports a new directory if it is in a cgroup file system.
void report_made_directory(const Call& call, std::uint64_t at, std::uint64_t path) {
    // The magic numbers of include/uapi/linux/magic.h, for both versions of cgroups.
    constexpr std::uint64_t kMagics[] = {0x63677270, 0x27e0eb};  // CGROUP2_SUPER_MAGIC, CGROUP_SUPER_MAGIC
    if (!wanted(call.engine, Interest::cgroup)) return;
    const long fd = engine::kernel_call(__NR_openat, at, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (engine::is_error(fd)) return;
    struct statfs system{};
    const long got = engine::kernel_call(__NR_fstatfs, static_cast<std::uint64_t>(fd), engine::address_of(&system));
    for (const std::uint64_t magic : kMagics)
        if (!engine::is_error(got) && static_cast<std::uint64_t>(system.f_type) == magic)
            report_made(call.thread, run::RequestKind::made_cgroup, static_cast<int>(fd));
    engine::kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
}

}  // namespace

void report_moved_tasks(const Call& call) {
    const std::uint32_t interests = __atomic_load_n(&call.engine.run->wanted_side_band, __ATOMIC_ACQUIRE);
    if ((interests & subsystem::kWantsCgroupMoves) == 0 || !moves_tasks(call.argument[0])) return;
    BrokerRequest{call.thread, run::RequestKind::moved_tasks}.send();
}

void report_side_band(const Call& call, long answer) {
    const auto& argument = call.argument;
    switch (call.number) {
        case __NR_mmap:
            return report_mapped(call.thread,
                                 {static_cast<std::uint64_t>(answer), argument[1], argument[2], argument[3]});
        case __NR_mprotect:
        case __NR_pkey_mprotect:
            // The kernel records a changed protection like a new mapping (mprotect_fixup() calls perf_event_mmap()).
            return report_mapped(call.thread, {argument[0], argument[1], argument[2], 0});
        case __NR_prctl:
            if (argument[0] == PR_SET_NAME && wanted(call.engine, Interest::comm)) report_renamed(call.thread);
            return;
        case __NR_write:
        case __NR_pwrite64:
        case __NR_writev:
        case __NR_pwritev:
        case __NR_pwritev2: return report_written_name(call);
        case __NR_unshare:
        case __NR_setns:
            if (wanted(call.engine, Interest::namespaces))
                BrokerRequest{call.thread, run::RequestKind::new_namespaces}.send();
            return;
        case __NR_mkdir: return report_made_directory(call, static_cast<std::uint64_t>(AT_FDCWD), argument[0]);
        case __NR_mkdirat: return report_made_directory(call, argument[0], argument[1]);
        case __NR_bpf:
            if (argument[0] == BPF_PROG_LOAD &&
                (wanted(call.engine, Interest::kernel_symbol) || wanted(call.engine, Interest::bpf_program)))
                report_made(call.thread, run::RequestKind::loaded_bpf, static_cast<int>(answer));
            return;
        default: return;
    }
}

bool move_break(Call& call, long& answer) {
    if (call.engine.run == nullptr || !wanted(call.engine, Interest::data_mapping)) return false;
    // brk(0) changes nothing and returns the break.
    const auto before = static_cast<std::uint64_t>(engine::kernel_call(__NR_brk, 0));
    answer = engine::handlers::brk(call);
    const auto now = static_cast<std::uint64_t>(answer);
    if (engine::page_up(now) <= engine::page_up(before)) return true;
    // The kernel records the whole area when it grows, before it moves the break. It names an area `[heap]` only if
    // that begins below the break. A new area begins at the old break or after it, so it has no name yet
    // (do_brk_flags() and vma_is_initial_heap() of Linux 6.18).
    const engine::ApplicationMapping heap = engine::mapping_at(engine::page_up(now) - 1);
    const run::MappingName name = heap.start < before ? run::MappingName::as_listed : run::MappingName::none;
    report_mapped(call.thread, {heap.start, heap.end - heap.start, heap.protection, heap.flags, name});
    return true;
}

void report_ring(Thread& thread, std::uint64_t start, std::uint64_t bytes, std::uint64_t protection,
                 std::uint64_t flags) {
    if (!wanted(*thread.engine, Interest::data_mapping)) return;
    report_mapped(thread, {start, bytes, protection & ~std::uint64_t{PROT_EXEC}, flags, run::MappingName::ring});
}

// Called before a program's first instruction. The engine has mapped the image by calls of its own, which
// report_side_band() does not see.
void report_image(Thread& thread) {
    if (!wanted(*thread.engine, Interest::executable_mapping) && !wanted(*thread.engine, Interest::data_mapping))
        return;
    engine::ApplicationMapping mappings[kImageMappings];
    const std::size_t count = engine::list_mappings(mappings, kImageMappings);
    constexpr std::uint64_t kUserEnd = std::uint64_t{1} << 47;  // above it is vsyscall, which was never mapped
    for (const engine::ApplicationMapping& mapping : std::span{mappings, count})
        if (mapping.start < kUserEnd)
            report_mapped(thread, {mapping.start, mapping.end - mapping.start, mapping.protection, mapping.flags});
}

}  // namespace anyperf::agent
