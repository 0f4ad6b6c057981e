// side_band.cpp: see side_band.h.
#include "resident/side_band.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <span>
#include <string_view>

#include "engine/freestanding/pages.h"
#include "engine/ledger.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/own_maps.h"
#include "resident/request.h"
#include "subsystem/records/interests.h"

namespace anyperf::resident {

using engine::Call;
using engine::Thread;
using subsystem::Interest;

namespace {

constexpr std::size_t kImageMappings = 64;  ///< of a program before its first instruction: some fifteen

bool wanted(const engine::Engine& engine, Interest interest) {
    const std::uint32_t set = __atomic_load_n(&engine.run->wanted, __ATOMIC_ACQUIRE);
    return (set >> static_cast<unsigned>(interest) & 1) != 0;
}

struct NewMapping {
    std::uint64_t start;
    std::uint64_t bytes;
    std::uint64_t protection;
    std::uint64_t flags;
    MappingName name = MappingName::as_listed;
};

void tell_mapped(Thread& thread, const NewMapping& mapping) {
    const bool executable = (mapping.protection & PROT_EXEC) != 0;
    if (!wanted(*thread.engine, executable ? Interest::executable_mapping : Interest::data_mapping)) return;
    Ask ask{thread, RequestKind::mapped};
    ask.with(0, mapping.start).with(1, mapping.bytes).with(2, mapping.protection).with(3, mapping.flags);
    ask.with(4, static_cast<std::uint64_t>(mapping.name)).send();
}

void tell_renamed(Thread& thread) {
    Ask{thread, RequestKind::renamed}.payload(thread.page.comm, sizeof thread.page.comm).send();
}

/// Whether the descriptor is of /proc/self/comm or the like.
bool names_thread(std::uint64_t fd) {
    constexpr std::string_view kDirectory = "/proc/self/fd/";
    char path[32] = {};
    std::size_t end = kDirectory.copy(path, kDirectory.size());
    char digits[10];
    std::size_t count = 0;
    for (auto rest = static_cast<std::uint32_t>(fd); count == 0 || rest != 0; rest /= 10)
        digits[count++] = static_cast<char>('0' + rest % 10);
    while (count != 0) path[end++] = digits[--count];
    char target[64];
    const long got =
        engine::kernel_call(__NR_readlink, engine::address_of(path), engine::address_of(target), sizeof target);
    if (engine::is_error(got)) return false;
    const std::string_view text{target, static_cast<std::size_t>(got)};
    return text.starts_with("/proc/") && text.ends_with("/comm");
}

/// A write so short may have been one to /proc/self/comm.
void tell_written_name(const Call& call, long written) {
    constexpr long kLongest = sizeof call.thread.page.comm;
    if (written > kLongest || !wanted(call.engine, Interest::comm) || !names_thread(call.argument[0])) return;
    engine::note_names(call.thread);
    tell_renamed(call.thread);
}

/// The broker looks at what the descriptor is of, and tells.
void tell_made(Thread& thread, RequestKind kind, int fd) {
    Ask{thread, kind}.descriptor(fd).send();
}

void tell_made_directory(const Call& call, std::uint64_t at, std::uint64_t path) {
    constexpr std::uint64_t kMagics[] = {0x63677270, 0x27e0eb};  // CGROUP2_SUPER_MAGIC, CGROUP_SUPER_MAGIC
    if (!wanted(call.engine, Interest::cgroup)) return;
    const long fd = engine::kernel_call(__NR_openat, at, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (engine::is_error(fd)) return;
    struct statfs system{};
    const long got = engine::kernel_call(__NR_fstatfs, static_cast<std::uint64_t>(fd), engine::address_of(&system));
    for (const std::uint64_t magic : kMagics)
        if (!engine::is_error(got) && static_cast<std::uint64_t>(system.f_type) == magic)
            tell_made(call.thread, RequestKind::made_cgroup, static_cast<int>(fd));
    engine::kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
}

}  // namespace

void tell_side_band(const Call& call, long answer) {
    const auto& argument = call.argument;
    switch (call.number) {
        case __NR_mmap:
            return tell_mapped(call.thread,
                               {static_cast<std::uint64_t>(answer), argument[1], argument[2], argument[3]});
        case __NR_mprotect:
        case __NR_pkey_mprotect:
            // As a mapping anew (perf_event_mmap() of mprotect_fixup()).
            return tell_mapped(call.thread, {argument[0], argument[1], argument[2], 0});
        case __NR_prctl:
            if (argument[0] == PR_SET_NAME && wanted(call.engine, Interest::comm)) tell_renamed(call.thread);
            return;
        case __NR_write: return tell_written_name(call, answer);
        case __NR_unshare:
        case __NR_setns:
            if (wanted(call.engine, Interest::namespaces)) Ask{call.thread, RequestKind::new_namespaces}.send();
            return;
        case __NR_mkdir: return tell_made_directory(call, static_cast<std::uint64_t>(AT_FDCWD), argument[0]);
        case __NR_mkdirat: return tell_made_directory(call, argument[0], argument[1]);
        case __NR_bpf:
            if (argument[0] == BPF_PROG_LOAD &&
                (wanted(call.engine, Interest::kernel_symbol) || wanted(call.engine, Interest::bpf_program)))
                tell_made(call.thread, RequestKind::loaded_bpf, static_cast<int>(answer));
            return;
        default: return;
    }
}

bool move_break(Call& call, long& answer) {
    if (call.engine.run == nullptr || !wanted(call.engine, Interest::data_mapping)) return false;
    const auto before = static_cast<std::uint64_t>(engine::kernel_call(__NR_brk, 0));
    answer = engine::handlers::brk(call);
    const auto now = static_cast<std::uint64_t>(answer);
    if (engine::page_up(now) <= engine::page_up(before)) return true;
    // The area is told as a whole when it grows, by the break as it was: one that is new stands behind that, and has
    // no name yet (do_brk_flags() and vma_is_initial_heap() of Linux 6.18).
    const engine::OwnMapping heap = engine::mapping_at(engine::page_up(now) - 1);
    const MappingName name = heap.start < before ? MappingName::as_listed : MappingName::none;
    tell_mapped(call.thread, {heap.start, heap.end - heap.start, heap.protection, heap.flags, name});
    return true;
}

void tell_ring(Thread& thread, std::uint64_t start, std::uint64_t bytes, std::uint64_t protection,
               std::uint64_t flags) {
    if (!wanted(*thread.engine, Interest::data_mapping)) return;
    tell_mapped(thread, {start, bytes, protection & ~std::uint64_t{PROT_EXEC}, flags, MappingName::ring});
}

void tell_image(Thread& thread) {
    if (!wanted(*thread.engine, Interest::executable_mapping) && !wanted(*thread.engine, Interest::data_mapping))
        return;
    engine::OwnMapping mappings[kImageMappings];
    const std::size_t count = engine::list_mappings(mappings, kImageMappings);
    constexpr std::uint64_t kUserEnd = std::uint64_t{1} << 47;  // behind it: vsyscall, which was never mapped
    for (const engine::OwnMapping& mapping : std::span{mappings, count})
        if (mapping.start < kUserEnd)
            tell_mapped(thread, {mapping.start, mapping.end - mapping.start, mapping.protection, mapping.flags});
}

}  // namespace anyperf::resident
