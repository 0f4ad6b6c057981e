// ring_mapping.cpp: mmap(2) of an event: sizes, protections, further mappings, changes of a mapping, and the constant
// fields of the user page, the first page of the mapping: "MMAP layout" of the manual.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/ring.h"
#include "suite/workload.h"

namespace conformance {

namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

struct Row {
    const char* name;
    const char* statement;
    int expected;
    std::size_t bytes;
    int protection = kReadWrite;
    int flags = MAP_SHARED;
    off_t offset = 0;
};

constexpr std::array kRows{
    Row{"pages_1", "of the user page alone is accepted", 0, 1 * kPageBytes},
    Row{"pages_2", "of 1 + 1 pages is accepted", 0, 2 * kPageBytes},
    Row{"pages_3", "of 1 + 2 pages is accepted", 0, 3 * kPageBytes},
    Row{"pages_4", "of 1 + 3 pages is EINVAL: 3 is not a power of two", EINVAL, 4 * kPageBytes},
    Row{"pages_5", "of 1 + 4 pages is accepted", 0, 5 * kPageBytes},
    Row{"pages_6", "of 1 + 5 pages is EINVAL: 5 is not a power of two", EINVAL, 6 * kPageBytes},
    Row{"pages_9", "of 1 + 8 pages is accepted", 0, 9 * kPageBytes},
    Row{"pages_10", "of 1 + 9 pages is EINVAL: 9 is not a power of two", EINVAL, 10 * kPageBytes},
    Row{"pages_129", "of 1 + 128 pages is accepted", 0, 129 * kPageBytes},
    Row{"bytes_0", "of length 0 is EINVAL", EINVAL, 0},
    Row{"bytes_1", "of length 1, rounded up to one page, is accepted", 0, 1},
    Row{"bytes_4097", "of length 4097, rounded up to two pages, is accepted", 0, 4097},
    Row{"read_only", "with PROT_READ alone is accepted", 0, 2 * kPageBytes, PROT_READ},
    Row{"write_only", "with PROT_WRITE alone is accepted", 0, 2 * kPageBytes, PROT_WRITE},
    Row{"no_access", "with PROT_NONE is accepted", 0, 2 * kPageBytes, PROT_NONE},
    Row{"executable", "with PROT_EXEC is EPERM", EPERM, 2 * kPageBytes, PROT_READ | PROT_EXEC},
    Row{"private", "with MAP_PRIVATE is EINVAL", EINVAL, 2 * kPageBytes, kReadWrite, MAP_PRIVATE},
    Row{"offset_1", "at an offset of one page is EINVAL", EINVAL, 2 * kPageBytes, kReadWrite, MAP_SHARED, 4096},
    Row{"offset_end", "at an offset beyond the end of any file is EOVERFLOW", EOVERFLOW, 2 * kPageBytes, kReadWrite,
        MAP_SHARED, -static_cast<off_t>(kPageBytes)},
    Row{"pages_half_million", "of 1 + 2^19 pages is ENOMEM: the kernel can't allocate the list of pages", ENOMEM,
        ((1UL << 19) + 1) * kPageBytes},
    Row{"offset_far", "at any other offset is EINVAL", EINVAL, 2 * kPageBytes, kReadWrite, MAP_SHARED, 65536},
};

Attr sampling() {
    return changed(page_faults(1), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID; });
}

void inherited(int cpu, int expected) {
    const Event event{changed(sampling(), [](Attr& a) { a.inherit = 1; }), 0, cpu};
    want_result("mmap", mapping_result(event.fd(), 2 * kPageBytes), expected);
}

void second_mapping() {
    Faults faults;
    const Event event{sampling()};
    const Ring first{event};
    Ring second{event};
    event.enable();
    faults.cause(1);
    event.disable();
    want_equal("head in both mappings", first.head(), second.head());
    want_at_least("head", first.head(), 16U);
    want_result("mmap with another size", mapping_result(event.fd(), 5 * kPageBytes), EINVAL);
    want_result("mmap of the user page alone", mapping_result(event.fd(), kPageBytes), EINVAL);
}

void user_page_first() {
    const Event event{sampling()};
    Ring user_page{event, 0};
    want_result("mmap of the ring while the user page is mapped", mapping_result(event.fd(), 2 * kPageBytes), EINVAL);
    user_page.unmap();
    want_result("mmap of the ring after munmap", mapping_result(event.fd(), 2 * kPageBytes), 0);
}

void mapped_again() {
    Faults faults;
    const Event event{sampling()};
    Ring ring{event};
    event.enable();
    faults.cause(2);
    event.disable();
    ring.unmap();
    const Ring second{event, 2};
    want_equal("head", second.head(), 0U);
    want_equal("data_size", second.page().data_size, 2 * kPageBytes);
}

void constant_fields(std::size_t pages) {
    const Event event{sampling()};
    const Ring ring{event, pages};
    const perf_event_mmap_page& page = ring.page();
    want_equal("version", page.version, 0U);
    want_equal("compat_version", page.compat_version, 0U);
    want_equal("data_offset", page.data_offset, kPageBytes);
    want_equal("data_size", page.data_size, pages * kPageBytes);
    want_equal("data_head", page.data_head, 0U);
    want_equal("data_tail", page.data_tail, 0U);
    want_equal("aux_head, aux_tail", page.aux_head + page.aux_tail, 0U);
    want_equal("aux_offset, aux_size", page.aux_offset + page.aux_size, 0U);
}

void no_hardware_counter() {
    const Event event{sampling()};
    const Ring ring{event};
    const perf_event_mmap_page& page = ring.page();
    want_equal("cap_bit0", static_cast<int>(page.cap_bit0), 0);
    want_equal("cap_bit0_is_deprecated", static_cast<int>(page.cap_bit0_is_deprecated), 1);
    want_equal("cap_user_rdpmc", static_cast<int>(page.cap_user_rdpmc), 0);
    want_equal("index", page.index, 0U);
    want_equal("pmc_width", page.pmc_width, 0);
}

void no_aux_area() {
    const Event event{sampling()};
    const Ring ring{event};
    ring.page().aux_offset = ring.mapped_bytes();
    ring.page().aux_size = 4 * kPageBytes;
    want_result(
        "mmap at aux_offset",
        mapping_result(event.fd(), 4 * kPageBytes, kReadWrite, MAP_SHARED, static_cast<off_t>(ring.mapped_bytes())),
        EOPNOTSUPP);
}

void even_lock() {
    const Event event{sampling()};
    const Ring ring{event};
    event.enable();
    event.disable();
    want_equal("lock & 1", ring.page().lock & 1, 0U);
}

void partial_munmap() {
    const Event event{sampling()};
    Ring ring{event};
    want_result("munmap of the last page", or_errno(::munmap(ring.memory() + 8 * kPageBytes, kPageBytes)), EINVAL);
    want_result("munmap of all", or_errno(::munmap(ring.memory(), ring.mapped_bytes())), 0);
}

void partly_replaced() {
    const Event event{sampling()};
    const Ring ring{event};
    const auto map_over = [&](std::size_t page) {
        void* const address = ring.memory() + page * kPageBytes;
        return or_errno(reinterpret_cast<long>(
            ::mmap(address, kPageBytes, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)));
    };
    want_result("mmap over the user page", map_over(0), EINVAL);
    want_result("mmap over the first data page", map_over(1), EINVAL);
    want_result("mmap over the last data page", map_over(8), EINVAL);
    want_equal("data_size", ring.page().data_size, 8 * kPageBytes);
}

void wholly_replaced() {
    const Event event{sampling()};
    Ring ring{event};
    void* const memory = ring.memory();
    const std::size_t bytes = ring.mapped_bytes();
    void* const mapped = ::mmap(memory, bytes, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    want("mmap replaces the whole ring", mapped == memory);
    want_result("mmap of the event with another size", mapping_result(event.fd(), 2 * kPageBytes + kPageBytes), 0);
    ::munmap(memory, bytes);
}

void partly_protected() {
    const Event event{sampling()};
    const Ring ring{event};
    want_result("mprotect of the last page",
                or_errno(::mprotect(ring.memory() + 8 * kPageBytes, kPageBytes, PROT_READ)), EINVAL);
}

/// mremap with an old size that reaches beyond the ring's end unmaps the memory after the ring.
void shrink_beyond_end() {
    const Event event{sampling()};
    const std::size_t region_bytes = 16 * kPageBytes;
    auto* const region =
        static_cast<std::byte*>(::mmap(nullptr, region_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const std::size_t bytes = 3 * kPageBytes;
    want("mmap places the ring", ::mmap(region, bytes, kReadWrite, MAP_SHARED | MAP_FIXED, event.fd(), 0) == region);
    void* const last = region + 2 * kPageBytes;
    want("mremap from the last page on succeeds", ::mremap(last, bytes, kPageBytes, MREMAP_MAYMOVE) == last);
    want_result("munmap of all", or_errno(::munmap(region, region_bytes)), 0);
}

void remapped() {
    const Event event{sampling()};
    const Ring ring{event};
    void* grown = ::mremap(ring.memory(), ring.mapped_bytes(), ring.mapped_bytes() + 8 * kPageBytes, MREMAP_MAYMOVE);
    want_result("mremap to grow", or_errno(reinterpret_cast<long>(grown)), EFAULT);
    void* shrunk = ::mremap(ring.memory(), ring.mapped_bytes(), kPageBytes, 0);
    want_result("mremap to shrink", or_errno(reinterpret_cast<long>(shrunk)), EINVAL);
}

/// A mapping of zeros that is as long as the ring, and is moved onto it.
void replaced_by_mremap(bool wholly) {
    const Event event{sampling()};
    const Ring ring{event};
    const std::size_t bytes = wholly ? ring.mapped_bytes() : kPageBytes;
    void* const other = ::mmap(nullptr, bytes, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void* const moved = ::mremap(other, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, ring.memory());
    if (!wholly) return want_result("mremap onto a part", or_errno(reinterpret_cast<long>(moved)), EINVAL);
    want("mremap moves onto the ring", moved == ring.memory());
    want_equal("the first byte there", ring.memory()[0], 0);
    // The event has no ring any more: one of another size can be mapped.
    want_result("mmap of a ring of another size", mapping_result(event.fd(), 3 * kPageBytes), 0);
}

void moved_read_only() {
    const Event event{sampling()};
    const Ring ring{event, 8, PROT_READ};
    const std::size_t bytes = ring.mapped_bytes();
    void* const place = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void* const moved = ::mremap(ring.memory(), bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    want("mremap moves the ring", moved == place);
    // read(2) writes there, so it fails if the mapping is still read-only.
    const Event zeros = Event::adopt(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
    want_result("read of /dev/zero into the ring", or_errno(::read(zeros.fd(), moved, 1)), EFAULT);
    ::munmap(moved, bytes);
}

void made_executable() {
    const Event event{sampling()};
    const Ring ring{event};
    want_result("mprotect", or_errno(::mprotect(ring.memory(), ring.mapped_bytes(), PROT_READ | PROT_EXEC)), EACCES);
}

void advised() {
    const Event event{sampling()};
    const Ring ring{event};
    const auto advise = [&](int advice) { return or_errno(::madvise(ring.memory(), ring.mapped_bytes(), advice)); };
    want_result("MADV_DONTNEED", advise(MADV_DONTNEED), EINVAL);
    want_result("MADV_DOFORK", advise(MADV_DOFORK), EINVAL);
    want_result("MADV_REMOVE", advise(MADV_REMOVE), ENODEV);
    want_result("MADV_DONTFORK", advise(MADV_DONTFORK), 0);
    want_result("MADV_RANDOM of a part", or_errno(::madvise(ring.memory(), kPageBytes, MADV_RANDOM)), EINVAL);
    want_result("msync", or_errno(::msync(ring.memory(), ring.mapped_bytes(), MS_SYNC)), EINVAL);
    want_result("msync without waiting", or_errno(::msync(ring.memory(), ring.mapped_bytes(), MS_ASYNC)), 0);
}

void changed_protection() {
    const Event event{sampling()};
    const auto signal_of_access = [&](int protection, std::size_t offset, bool store) {
        const int status = in_child([&] {
            const Ring own{event};
            want_success("mprotect", or_errno(::mprotect(own.memory(), own.mapped_bytes(), protection)));
            auto* const byte = reinterpret_cast<volatile unsigned char*>(own.memory()) + offset;
            if (store)
                *byte = 1;
            else
                ::_exit(*byte & 0);
        });
        return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    };
    const Ring ring{event};
    want_equal("signal of a store to the read-only user page", signal_of_access(PROT_READ, 0, true), SIGSEGV);
    want_equal("signal of a load with PROT_NONE", signal_of_access(PROT_NONE, 0, false), SIGSEGV);
    want_equal("signal of a store to the user page, writable again", signal_of_access(kReadWrite, 4000, true), 0);
    want_equal("signal of a store to a data page, writable again", signal_of_access(kReadWrite, kPageBytes, true),
               SIGBUS);
}

void not_inherited_by_fork() {
    const Event event{sampling()};
    const Ring ring{event};
    const int status = in_child([&] { ::_exit(*static_cast<volatile char*>(ring.memory())); });
    want("the child ends by a signal", WIFSIGNALED(status));
    want_equal("the signal", WTERMSIG(status), SIGSEGV);
}

void mapped_by_a_child() {
    Faults faults;
    const Event event{sampling()};
    const Ring ring{event};
    event.enable();
    faults.cause(3);
    event.disable();
    const std::uint64_t head = ring.head();
    in_checked_child([&] {
        const Ring second{event};
        want_equal("head", second.head(), head);
    });
}

void store_signals(int protection, std::size_t offset, int signal) {
    const Event event{sampling()};
    const Ring ring{event, 8, protection};
    const int status = in_child([&] {
        const Ring own{event, 8, protection};
        own.memory()[offset] = 1;
    });
    want("the child ends by a signal", WIFSIGNALED(status));
    want_equal("the signal", WTERMSIG(status), signal);
}

void ring_of_sibling() {
    Faults faults;
    const Event leader{sampling()};
    const Event member = sibling(sampling(), leader);
    Ring leaders{leader};
    Ring members{member};
    leader.enable(PERF_IOC_FLAG_GROUP);
    faults.cause(2);
    leader.disable(PERF_IOC_FLAG_GROUP);
    want_at_least("samples in the leader's ring", leaders.drain(PERF_RECORD_SAMPLE).size(), 2U);
    want_at_least("samples in the sibling's ring", members.drain(PERF_RECORD_SAMPLE).size(), 2U);
}

void kept_by_its_mapping() {
    Faults faults;
    Event event{sampling()};
    Ring ring{event};
    event.enable();
    event.close();
    ring.drain();
    faults.cause(3);
    want_at_least("samples after close", ring.drain(PERF_RECORD_SAMPLE).size(), 3U);
}

/// Without privileges, maps rings until a mapping fails or they exceed what every user may lock
/// (perf_event_mlock_kb): the last result.
void map_as_nobody(rlim_t memlock, int expected) {
    in_checked_child([memlock, expected] {
        const rlimit limit{memlock, memlock};
        if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0) throw Skip{"RLIMIT_MEMLOCK can't be set"};
        if (::geteuid() == 0) become_nobody();
        std::vector<Event> events;
        std::vector<std::unique_ptr<Ring>> rings;
        const long allowed = sysctl("perf_event_mlock_kb").value_or(516) * 1024 * ::sysconf(_SC_NPROCESSORS_ONLN);
        constexpr std::size_t kRing = 65 * kPageBytes;
        long mapped = 0;
        long result = 0;
        for (; mapped <= allowed && result == 0;) {
            events.emplace_back(sampling());
            result = mapping_result(events.back().fd(), kRing);
            if (result != 0) break;
            rings.push_back(std::make_unique<Ring>(events.back(), 64));
            mapped += static_cast<long>(kRing);
        }
        want_result("the mapping above perf_event_mlock_kb", result, expected);
    });
}

void locked_memory() {
    map_as_nobody(0, EPERM);
}

/// 5 GiB: more than 32 bits can say.
void large_limit_of_locked_memory() {
    map_as_nobody(rlim_t{5} << 30, 0);
}

}  // namespace

std::vector<Case> ring_mapping_cases() {
    std::vector<Case> cases;
    cases.reserve(kRows.size());
    for (const Row& row : kRows)
        cases.push_back({row.name, std::string{"mmap "} + row.statement, kNothing, [&row] {
                             const Event event{sampling()};
                             want_result("mmap",
                                         mapping_result(event.fd(), row.bytes, row.protection, row.flags, row.offset),
                                         row.expected);
                         }});
    append(cases,
           {
               {"inherit_any_cpu", "mmap of an inherited event on any CPU is EINVAL", kNothing,
                [] { inherited(-1, EINVAL); }},
               {"inherit_one_cpu", "mmap of an inherited event on one CPU is accepted", kNothing,
                [] { inherited(allowed_cpus().at(0), 0); }},
               {"second", "a second mapping must have the size of the first, and maps the same ring", kNothing,
                second_mapping},
               {"header_first", "while the user page alone is mapped, mmap of the ring is EINVAL", kNothing,
                user_page_first},
               {"anew", "a ring that is mapped again after munmap may have another size and is empty", kNothing,
                mapped_again},
               {"fields", "data_offset and data_size are the offset and size of the data pages", kNothing,
                [] { constant_fields(8); }},
               {"fields_header_only", "without data pages data_size is 0", kNothing, [] { constant_fields(0); }},
               {"no_rdpmc", "the user page of an event without a hardware counter does not offer rdpmc", kNothing,
                no_hardware_counter},
               {"aux", "mmap of the AUX area is EOPNOTSUPP for a PMU without AUX", kNothing, no_aux_area},
               {"lock", "lock is even while no update is in progress", kNothing, even_lock},
               {"partial_munmap", "munmap of a part of a mapping is EINVAL", kNothing, partial_munmap},
               {"partly_replaced", "mmap over a part of a mapping is EINVAL", kNothing, partly_replaced},
               {"wholly_replaced", "mmap over the whole mapping unmaps the ring", kNothing, wholly_replaced},
               {"partly_protected", "mprotect of a part of a mapping is EINVAL", kNothing, partly_protected},
               {"unmap_after", "mremap that shrinks a larger range may cut off the memory after the mapping", kNothing,
                shrink_beyond_end},
               {"mremap", "mremap can neither grow nor shrink a mapping", kNothing, remapped},
               {"mremap_onto", "mremap of other memory onto the whole mapping unmaps the ring", kNothing,
                [] { replaced_by_mremap(true); }},
               {"mremap_onto_part", "mremap of other memory onto a part of the mapping is EINVAL", kNothing,
                [] { replaced_by_mremap(false); }},
               {"mremap_read_only", "a read-only mapping that mremap moves stays read-only", kNothing, moved_read_only},
               {"mprotect_exec", "mprotect with PROT_EXEC is EACCES", kNothing, made_executable},
               {"advice", "madvise and msync that would change the pages of a mapping are refused", kNothing, advised},
               {"mprotect", "mprotect of the whole mapping takes effect, but data pages stay read-only", kNothing,
                changed_protection},
               {"fork", "a forked child does not inherit the mapping", kNothing, not_inherited_by_fork},
               {"child_maps", "a forked child may map the descriptor, and maps the same ring", kNothing,
                mapped_by_a_child},
               {"store_read_only", "a store to a read-only mapping is SIGSEGV", kNothing,
                [] { store_signals(PROT_READ, kPageBytes, SIGSEGV); }},
               {"store_data", "a store to a data page is SIGBUS", kNothing,
                [] { store_signals(kReadWrite, kPageBytes, SIGBUS); }},
               {"sibling", "a sibling has its own ring", kNothing, ring_of_sibling},
               {"close", "an event whose descriptor is closed exists as long as its mapping", kNothing,
                kept_by_its_mapping},
               {"mlock", "without privileges rings above perf_event_mlock_kb are EPERM", kLevel2, locked_memory},
               {"mlock_large", "an RLIMIT_MEMLOCK of 5 GiB allows such rings without privileges", kLevel2,
                large_limit_of_locked_memory},
           });
    return cases;
}

}  // namespace conformance
