// ring_mapping.cpp: mmap(2) of an event: sizes, protections, second mappings, the header's constants. "MMAP layout".
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
#include "suite/machine.h"
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
    Row{"pages_1", "the header page alone", 0, 1 * kPageBytes},
    Row{"pages_2", "1 + 1 pages", 0, 2 * kPageBytes},
    Row{"pages_3", "1 + 2 pages", 0, 3 * kPageBytes},
    Row{"pages_4", "1 + 3 pages: not a power of two", EINVAL, 4 * kPageBytes},
    Row{"pages_5", "1 + 4 pages", 0, 5 * kPageBytes},
    Row{"pages_6", "1 + 5 pages: not a power of two", EINVAL, 6 * kPageBytes},
    Row{"pages_9", "1 + 8 pages", 0, 9 * kPageBytes},
    Row{"pages_10", "1 + 9 pages: not a power of two", EINVAL, 10 * kPageBytes},
    Row{"pages_129", "1 + 128 pages", 0, 129 * kPageBytes},
    Row{"bytes_0", "a length of 0", EINVAL, 0},
    Row{"bytes_1", "a length is rounded up to pages", 0, 1},
    Row{"bytes_4097", "a length is rounded up to pages: 1 + 1", 0, 4097},
    Row{"read_only", "PROT_READ alone", 0, 2 * kPageBytes, PROT_READ},
    Row{"write_only", "PROT_WRITE alone", 0, 2 * kPageBytes, PROT_WRITE},
    Row{"no_access", "PROT_NONE", 0, 2 * kPageBytes, PROT_NONE},
    Row{"executable", "PROT_EXEC is EPERM", EPERM, 2 * kPageBytes, PROT_READ | PROT_EXEC},
    Row{"private", "MAP_PRIVATE is EINVAL", EINVAL, 2 * kPageBytes, kReadWrite, MAP_PRIVATE},
    Row{"offset_1", "an offset of a page is EINVAL", EINVAL, 2 * kPageBytes, kReadWrite, MAP_SHARED, 4096},
    Row{"offset_end", "an offset behind every file is EOVERFLOW", EOVERFLOW, 2 * kPageBytes, kReadWrite, MAP_SHARED,
        -static_cast<off_t>(kPageBytes)},
    Row{"pages_half_million", "1 + 2^19 pages: ENOMEM, for want of a list of them", ENOMEM,
        ((1UL << 19) + 1) * kPageBytes},
    Row{"offset_far", "any other offset is EINVAL", EINVAL, 2 * kPageBytes, kReadWrite, MAP_SHARED, 65536},
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
    want_equal("head through both", first.head(), second.head());
    want_at_least("head", first.head(), 16U);
    want_result("with another size", mapping_result(event.fd(), 5 * kPageBytes), EINVAL);
    want_result("the header alone", mapping_result(event.fd(), kPageBytes), EINVAL);
}

void header_first() {
    const Event event{sampling()};
    Ring header{event, 0};
    want_result("the ring with the header mapped", mapping_result(event.fd(), 2 * kPageBytes), EINVAL);
    header.unmap();
    want_result("the ring after munmap", mapping_result(event.fd(), 2 * kPageBytes), 0);
}

void mapped_anew() {
    Faults faults;
    const Event event{sampling()};
    Ring ring{event};
    event.enable();
    faults.cause(2);
    event.disable();
    ring.unmap();
    const Ring anew{event, 2};
    want_equal("head", anew.head(), 0U);
    want_equal("data_size", anew.page().data_size, 2 * kPageBytes);
}

void header_fields(std::size_t pages) {
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
    const auto over = [&](std::size_t page) {
        void* const place = ring.memory() + page * kPageBytes;
        return or_errno(reinterpret_cast<long>(
            ::mmap(place, kPageBytes, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)));
    };
    want_result("mmap over the header", over(0), EINVAL);
    want_result("mmap over the first records", over(1), EINVAL);
    want_result("mmap over the last", over(8), EINVAL);
    want_equal("data_size", ring.page().data_size, 8 * kPageBytes);
}

void wholly_replaced() {
    const Event event{sampling()};
    Ring ring{event};
    void* const memory = ring.memory();
    const std::size_t bytes = ring.mapped_bytes();
    void* const got = ::mmap(memory, bytes, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    want("mmap over all of it", got == memory);
    want_result("another size now", mapping_result(event.fd(), 2 * kPageBytes + kPageBytes), 0);
    ::munmap(memory, bytes);
}

void partly_protected() {
    const Event event{sampling()};
    const Ring ring{event};
    want_result("mprotect of the last page",
                or_errno(::mprotect(ring.memory() + 8 * kPageBytes, kPageBytes, PROT_READ)), EINVAL);
}

/// What is behind the ring may go by mremap, which takes a size that reaches beyond it.
void given_up_behind() {
    const Event event{sampling()};
    const std::size_t room = 16 * kPageBytes;
    auto* const region = static_cast<std::byte*>(::mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const std::size_t bytes = 3 * kPageBytes;
    want("the ring", ::mmap(region, bytes, kReadWrite, MAP_SHARED | MAP_FIXED, event.fd(), 0) == region);
    void* const last = region + 2 * kPageBytes;
    want("mremap from its last page on", ::mremap(last, bytes, kPageBytes, MREMAP_MAYMOVE) == last);
    want_result("munmap of all", or_errno(::munmap(region, room)), 0);
}

void remapped() {
    const Event event{sampling()};
    const Ring ring{event};
    void* grown = ::mremap(ring.memory(), ring.mapped_bytes(), ring.mapped_bytes() + 8 * kPageBytes, MREMAP_MAYMOVE);
    want_result("mremap to grow", or_errno(reinterpret_cast<long>(grown)), EFAULT);
    void* shrunk = ::mremap(ring.memory(), ring.mapped_bytes(), kPageBytes, 0);
    want_result("mremap to shrink", or_errno(reinterpret_cast<long>(shrunk)), EINVAL);
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

void protected_again() {
    const Event event{sampling()};
    const auto dies_by = [&](int protection, std::size_t offset, bool store) {
        const int status = in_child([&] {
            const Ring own{event};
            want_success("mprotect", or_errno(::mprotect(own.memory(), own.mapped_bytes(), protection)));
            auto* const place = reinterpret_cast<volatile unsigned char*>(own.memory()) + offset;
            if (store)
                *place = 1;
            else
                ::_exit(*place & 0);
        });
        return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    };
    const Ring ring{event};
    want_equal("a store to the header, read-only", dies_by(PROT_READ, 0, true), SIGSEGV);
    want_equal("a load without any right", dies_by(PROT_NONE, 0, false), SIGSEGV);
    want_equal("a store to the header, writable again", dies_by(kReadWrite, 4000, true), 0);
    want_equal("a store to the records, writable again", dies_by(kReadWrite, kPageBytes, true), SIGBUS);
}

void not_in_a_child() {
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
        const Ring childs{event};
        want_equal("head", childs.head(), head);
    });
}

void store_dies(int protection, std::size_t offset, int signal) {
    const Event event{sampling()};
    const Ring ring{event, 8, protection};
    const int status = in_child([&] {
        const Ring own{event, 8, protection};
        own.memory()[offset] = 1;
    });
    want("the child ends by a signal", WIFSIGNALED(status));
    want_equal("the signal", WTERMSIG(status), signal);
}

void siblings_ring() {
    Faults faults;
    const Event leader{sampling()};
    const Event member = sibling(sampling(), leader);
    Ring leaders{leader};
    Ring members{member};
    leader.enable(PERF_IOC_FLAG_GROUP);
    faults.cause(2);
    leader.disable(PERF_IOC_FLAG_GROUP);
    want_at_least("samples in the leader's", leaders.drain(PERF_RECORD_SAMPLE).size(), 2U);
    want_at_least("samples in the sibling's", members.drain(PERF_RECORD_SAMPLE).size(), 2U);
}

void lives_by_its_mapping() {
    Faults faults;
    Event event{sampling()};
    Ring ring{event};
    event.enable();
    event.close();
    ring.drain();
    faults.cause(3);
    want_at_least("samples after close", ring.drain(PERF_RECORD_SAMPLE).size(), 3U);
}

void locked_memory() {
    in_checked_child([] {
        if (::geteuid() == 0) become_nobody();
        const rlimit none{0, 0};
        if (::setrlimit(RLIMIT_MEMLOCK, &none) != 0) throw Skip{"RLIMIT_MEMLOCK can't be set"};
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
        want_result("the mapping above perf_event_mlock_kb", result, EPERM);
    });
}

}  // namespace

std::vector<Case> ring_mapping_cases() {
    std::vector<Case> cases;
    cases.reserve(kRows.size());
    for (const Row& row : kRows)
        cases.push_back({row.name, std::string{"mmap: "} + row.statement, kNothing, [&row] {
                             const Event event{sampling()};
                             want_result("mmap",
                                         mapping_result(event.fd(), row.bytes, row.protection, row.flags, row.offset),
                                         row.expected);
                         }});
    append(
        cases,
        {
            {"inherit_any_cpu", "an inherited event on any CPU has no ring", kNothing, [] { inherited(-1, EINVAL); }},
            {"inherit_one_cpu", "an inherited event on one CPU has", kNothing,
             [] { inherited(allowed_cpus().at(0), 0); }},
            {"second", "a second mapping shows the same ring, and must have its size", kNothing, second_mapping},
            {"header_first", "with the header mapped, the ring can't be until it is unmapped", kNothing, header_first},
            {"anew", "mapped anew the ring may have another size and starts empty", kNothing, mapped_anew},
            {"fields", "data_offset and data_size tell where the ring is", kNothing, [] { header_fields(8); }},
            {"fields_header_only", "without data pages data_size is 0", kNothing, [] { header_fields(0); }},
            {"no_rdpmc", "an event without a hardware counter can't be read by rdpmc", kNothing, no_hardware_counter},
            {"aux", "a PMU without AUX has no AUX area", kNothing, no_aux_area},
            {"lock", "lock is even when stable", kNothing, even_lock},
            {"partial_munmap", "a part of a mapping can't be unmapped", kNothing, partial_munmap},
            {"partly_replaced", "a part of a mapping can't be replaced by another", kNothing, partly_replaced},
            {"wholly_replaced", "a mapping that is replaced is as good as unmapped", kNothing, wholly_replaced},
            {"partly_protected", "a part can't be protected in another way", kNothing, partly_protected},
            {"given_up_behind", "mremap may give up what lies behind a mapping", kNothing, given_up_behind},
            {"mremap", "a mapping can neither grow nor shrink", kNothing, remapped},
            {"mprotect_exec", "it can't be made executable", kNothing, made_executable},
            {"advice", "madvise and msync that would change its pages are refused", kNothing, advised},
            {"mprotect", "mprotect of the whole is obeyed; records stay read-only", kNothing, protected_again},
            {"fork", "a forked child doesn't have the mapping", kNothing, not_in_a_child},
            {"child_maps", "it may map the descriptor, and sees the same ring", kNothing, mapped_by_a_child},
            {"store_read_only", "a store through a read-only mapping is SIGSEGV", kNothing,
             [] { store_dies(PROT_READ, kPageBytes, SIGSEGV); }},
            {"store_data", "a store to a data page is SIGBUS", kNothing,
             [] { store_dies(kReadWrite, kPageBytes, SIGBUS); }},
            {"sibling", "a sibling has a ring of its own", kNothing, siblings_ring},
            {"close", "an event whose descriptor is closed lives on by its mapping", kNothing, lives_by_its_mapping},
            {"mlock", "without privilege rings are limited by perf_event_mlock_kb: EPERM", kLevel2, locked_memory},
        });
    return cases;
}

}  // namespace conformance
