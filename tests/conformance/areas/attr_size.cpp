// attr_size.cpp: which values of attr.size are accepted, how many bytes of attr are read, and the size that a refusal
// writes to attr.size.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"

namespace conformance {

namespace {

/// An attr in a buffer that is larger than any accepted size.
struct Memory {
    alignas(8) std::array<char, 8192> bytes{};

    explicit Memory(std::uint32_t size) {
        Attr attr = dummy();
        attr.size = size;
        std::memcpy(bytes.data(), &attr, sizeof attr);
    }
    std::uint32_t size() const {
        std::uint32_t size = 0;
        std::memcpy(&size, bytes.data() + offsetof(perf_event_attr, size), sizeof size);
        return size;
    }
};

long open_close(const void* attr) {
    const long fd = open_event(attr, 0, -1, -1, 0);
    if (fd < 0) return fd;
    ::close(static_cast<int>(fd));
    return 0;
}

struct SizeRow {
    std::uint32_t size;
    int expected;
    std::uint32_t written;  ///< attr.size after the call
};

constexpr std::array kSizes{
    SizeRow{0, 0, 0},          SizeRow{1, E2BIG, 136},
    SizeRow{32, E2BIG, 136},   SizeRow{63, E2BIG, 136},
    SizeRow{64, 0, 64},        SizeRow{65, 0, 65},
    SizeRow{72, 0, 72},        SizeRow{80, 0, 80},
    SizeRow{96, 0, 96},        SizeRow{100, 0, 100},
    SizeRow{104, 0, 104},      SizeRow{112, 0, 112},
    SizeRow{120, 0, 120},      SizeRow{128, 0, 128},
    SizeRow{135, 0, 135},      SizeRow{136, 0, 136},
    SizeRow{137, 0, 137},      SizeRow{144, 0, 144},
    SizeRow{4096, 0, 4096},    SizeRow{4097, E2BIG, 136},
    SizeRow{8192, E2BIG, 136}, SizeRow{0xffffffff, E2BIG, 136},
};

Case size_case(const SizeRow& row) {
    const std::string size = std::to_string(row.size);
    return {"size_" + size,
            row.expected == 0 ? "size " + size + " is accepted and stays as given"
                              : "size " + size + " is E2BIG, and the kernel's size is written to attr.size",
            kNothing, [row] {
                Memory memory{row.size};
                want_result("perf_event_open", open_close(memory.bytes.data()), row.expected);
                want_equal("attr.size afterwards", memory.size(), row.written);
            }};
}

/// Linux reads only attr.size bytes; fields beyond them count as zero.
Case beyond_case(const char* name, const char* statement, std::uint32_t size, std::size_t offset, int expected) {
    return {name, statement, kNothing, [=] {
                Memory memory{size};
                memory.bytes.at(offset) = 1;
                want_result("perf_event_open", open_close(memory.bytes.data()), expected);
            }};
}

/// The end of a page that is followed by a page that can't be read.
char* end_of_readable_page() {
    constexpr std::size_t kPage = 4096;
    auto* pages =
        static_cast<char*>(::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (pages == MAP_FAILED || ::mprotect(pages + kPage, kPage, PROT_NONE) != 0) throw Failure{"mmap failed"};
    return pages + kPage;
}

void open_at_end_of_page(std::uint32_t size, std::size_t bytes, int expected) {
    char* attr = end_of_readable_page() - bytes;
    const Memory memory{size};
    std::memcpy(attr, memory.bytes.data(), std::min(bytes, memory.bytes.size()));
    want_result("perf_event_open", open_close(attr), expected);
}

void refuse_read_only_attr() {
    char* end = end_of_readable_page();
    Attr attr = dummy();
    attr.size = 63;
    std::memcpy(end - sizeof attr, &attr, sizeof attr);
    ::mprotect(end - 4096, 4096, PROT_READ);
    want_result("size 63 in read-only memory", open_close(end - sizeof attr), E2BIG);
}

void attr_is_not_written() {
    Memory memory{136};
    const auto before = memory.bytes;
    want_result("perf_event_open", open_close(memory.bytes.data()), 0);
    want("attr is unchanged", memory.bytes == before);
}

void open_read_only_attr() {
    char* end = end_of_readable_page();
    const Attr attr = dummy();
    std::memcpy(end - sizeof attr, &attr, sizeof attr);
    ::mprotect(end - 4096, 4096, PROT_READ);
    want_result("attr in read-only memory", open_close(end - sizeof attr), 0);
}

}  // namespace

std::vector<Case> attr_size_cases() {
    std::vector<Case> cases;
    cases.reserve(kSizes.size());
    for (const SizeRow& row : kSizes) cases.push_back(size_case(row));
    append(
        cases,
        {
            beyond_case("unknown_byte_set", "a byte that is not 0 after the known fields, within size, is E2BIG", 144,
                        136, E2BIG),
            beyond_case("last_unknown_byte_set", "a byte that is not 0 at the end of an attr of size 4096 is E2BIG",
                        4096, 4095, E2BIG),
            beyond_case("byte_beyond_a_large_size", "a byte after a size above the known one is ignored", 144, 144, 0),
            beyond_case("field_beyond_size_64", "a field after size 64 is ignored", 64, 110, 0),
            beyond_case("field_within_size_120", "a reserved field within size 120 that is not 0 is EINVAL", 120, 110,
                        EINVAL),  // __reserved_2
            {"null", "attr NULL is EFAULT", kNothing,
             [] { want_result("perf_event_open", open_close(nullptr), EFAULT); }},
            {"unmapped", "attr at an unmapped address is EFAULT", kNothing,
             [] { want_result("perf_event_open", open_close(end_of_readable_page()), EFAULT); }},
            {"kernel_address", "attr at a kernel address is EFAULT", kNothing,
             [] { want_result("perf_event_open", open_close(reinterpret_cast<void*>(~0xfffUL)), EFAULT); }},
            {"tail_unmapped", "attr whose last bytes within size can't be read is EFAULT", kNothing,
             [] { open_at_end_of_page(136, 128, EFAULT); }},
            {"head_only_readable", "attr of which only the type can be read is EFAULT", kNothing,
             [] { open_at_end_of_page(136, 4, EFAULT); }},
            {"size_64_before_a_hole", "only 64 bytes are read of an attr of size 64", kNothing,
             [] { open_at_end_of_page(64, 64, 0); }},
            {"size_0_before_a_hole", "only 64 bytes are read of an attr of size 0, which means 64", kNothing,
             [] { open_at_end_of_page(0, 64, 0); }},
            {"read_only_refused", "an invalid size is E2BIG even if attr.size can't be written", kNothing,
             refuse_read_only_attr},
            {"read_only_accepted", "a valid attr may be in read-only memory", kNothing, open_read_only_attr},
            {"not_written", "a successful call does not change attr", kNothing, attr_is_not_written},
        });
    return cases;
}

}  // namespace conformance
