#include "engine/freestanding/pages.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kGuardBytes = kPageBytes;  // on either side

/// Address space for the engine: in its own area, or where the kernel likes.
long reserve_own(std::uint64_t bytes, int flags) {
    constexpr int kReserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    const std::uint64_t place = (flags & MAP_32BIT) == 0 ? own_pages.next_place(bytes) : 0;
    if (place != 0) {
        // Before Linux 4.17 the kernel maps elsewhere if the application has memory there.
        const long got = map_pages(place, bytes, PROT_NONE, kReserved | MAP_FIXED_NOREPLACE);
        if (got != -EEXIST) return got;
    }
    return map_pages(0, bytes, PROT_NONE, kReserved | (flags & MAP_32BIT));
}

/// The application's first mapping ends at a multiple of this, if it can. It is more than the engine's image has.
constexpr std::uint64_t kBoundary = std::uint64_t{16} << 20;

/// The kernel would let the application's mappings end at `end`, below the engine's image and the vDSO. Keeps what lies
/// between the boundary below and `end`, so that the addresses of mappings do not follow from the size of the image: it
/// differs between builds, and the vDSO's between kernels. Returns the new end, or `end` if the kernel refuses.
std::uint64_t skip_to_boundary(std::uint64_t end) {
    const std::uint64_t start = end & ~(kBoundary - 1);
    if (start == end) return end;
    constexpr int kReserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    const long got = map_pages(start, end - start, PROT_NONE, kReserved);
    if (is_error(got)) return end;
    const bool kept = static_cast<std::uint64_t>(got) == start && own_pages.add(start, end);
    if (!kept) kernel_call(__NR_munmap, static_cast<std::uint64_t>(got), end - start);
    return kept ? start : end;
}

}  // namespace

std::uint64_t begin_own_area() {
    const long got = map_pages(0, kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (is_error(got)) return 0;
    const auto highest = static_cast<std::uint64_t>(got);
    kernel_call(__NR_munmap, highest, kPageBytes);
    const std::uint64_t first = skip_to_boundary(highest + kPageBytes) - kPageBytes;
    if (first > kOwnAreaBytes) own_pages.set_area({first - kOwnAreaBytes, first});
    return first;
}

void leave_out_of_dumps(std::uint64_t start, std::uint64_t bytes) {
    kernel_call(__NR_madvise, start, bytes, MADV_DONTDUMP);
}

// The guard pages and the memory between them are mapped together, so that no other mapping can come between them.
long map_own_pages(std::uint64_t bytes, int protection, int flags, int fd, std::uint64_t offset) {
    const std::uint64_t inside = page_up(bytes);
    const std::uint64_t all = inside + 2 * kGuardBytes;
    const long got = reserve_own(all, flags);
    if (is_error(got)) return got;
    const auto start = static_cast<std::uint64_t>(got);
    const std::uint64_t place = start + kGuardBytes;
    const long filled = fd < 0 && (flags & MAP_TYPE) == MAP_PRIVATE
                            ? kernel_call(__NR_mprotect, place, inside, static_cast<unsigned>(protection))
                            : map_pages(place, bytes, protection, flags | MAP_FIXED, fd, offset);
    if (is_error(filled)) {
        kernel_call(__NR_munmap, start, all);
        return filled;
    }
    leave_out_of_dumps(start, all);
    if (own_pages.add(start, start + all)) return static_cast<long>(place);
    kernel_call(__NR_munmap, start, all);
    return -ENOMEM;
}

long map_own_pages_at(std::uint64_t address, std::uint64_t bytes, int protection, int flags, int fd) {
    const long got = map_pages(address, bytes, protection, flags, fd);
    if (is_error(got)) return got;
    const auto start = static_cast<std::uint64_t>(got);
    leave_out_of_dumps(start, page_up(bytes));
    if (own_pages.add(start, page_up(start + bytes))) return got;
    kernel_call(__NR_munmap, start, bytes);
    return -ENOMEM;
}

OwnPages::Range with_guards(const void* pages, std::uint64_t bytes) {
    return {address_of(pages) - kGuardBytes, page_up(address_of(pages) + bytes) + kGuardBytes};
}

void* reserve_pages(std::uint64_t bytes, int protection) {
    const long got = map_own_pages(bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    return is_error(got) ? nullptr : at_address<void>(static_cast<std::uint64_t>(got));
}

void release_pages(void* pages, std::uint64_t bytes) {
    const OwnPages::Range all = with_guards(pages, bytes);
    own_pages.remove(all.start, all.end);
    kernel_call(__NR_munmap, all.start, all.end - all.start);
}

}  // namespace anyperf::engine
