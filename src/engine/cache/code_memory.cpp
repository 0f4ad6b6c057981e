// code_memory.cpp: the mappings. A memory file is anonymous shared memory, which needs no descriptor; its second
// mapping is made by mremap(2) with an old size of 0. SELinux treats shared anonymous memory as it treats private
// memory, and a memfd as a file, so a memfd is tried where the former is refused.
#include "engine/cache/code_memory.h"

#include <errno.h>
#include <sys/mman.h>

#include "engine/freestanding/pages.h"

namespace anyperf::engine {

namespace {

constexpr unsigned kMoveTo = MREMAP_MAYMOVE | MREMAP_FIXED;

bool is_refusal(long got) {
    return got == -EACCES || got == -EPERM;
}

/// Maps a new memory file for execution only. `map` gets the flags and the descriptor of mmap(2).
template <class Map>
long map_file(std::uint64_t bytes, Map map) {
    const long got = map(MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (!is_refusal(got)) return got;
    const long fd = kernel_call(__NR_memfd_create, address_of("code"), MFD_CLOEXEC);
    if (is_error(fd)) return got;
    const auto file = static_cast<std::uint64_t>(fd);
    const bool sized = !is_error(kernel_call(__NR_ftruncate, file, bytes));
    const long of_file = sized ? map(MAP_SHARED | MAP_NORESERVE, static_cast<int>(fd)) : got;
    kernel_call(__NR_close, file);
    return of_file;
}

/// Maps the memory file at `executable` once more, for writing, with guard pages. Returns the address; 0: refused.
std::uint64_t map_writable(std::uint64_t executable, std::uint64_t bytes) {
    void* const place = reserve_pages(bytes, PROT_NONE);
    if (place == nullptr) return 0;
    const std::uint64_t writable = address_of(place);
    if (!is_error(kernel_call(__NR_mremap, executable, 0, bytes, kMoveTo, writable)) &&
        !is_error(kernel_call(__NR_mprotect, writable, bytes, PROT_READ | PROT_WRITE)))
        return writable;
    release_pages(place, bytes);
    return 0;
}

/// Executes a serializing instruction (SDM volume 3, 8.3 "Serializing Instructions"). Unlike cpuid, iret does not exit
/// to a hypervisor.
void serialize() {
    asm volatile(
        "mov %%rsp, %%rcx\n\t"
        "lea -128(%%rsp), %%rsp\n\t"  // below the red zone
        "mov %%ss, %%eax\n\t"
        "push %%rax\n\t"
        "push %%rcx\n\t"
        "pushfq\n\t"
        "mov %%cs, %%eax\n\t"
        "push %%rax\n\t"
        "lea 1f(%%rip), %%rax\n\t"
        "push %%rax\n\t"
        "iretq\n"
        "1:"
        :
        :
        : "rax", "rcx", "memory", "cc");
}

}  // namespace

/// `map` gets the protection, the flags and the descriptor of mmap(2), and returns its answer. `unmap` gets that.
template <class Map, class Unmap>
bool CodeMemory::map_by(std::uint64_t bytes, bool separate, Map map, Unmap unmap) {
    bytes_ = bytes;
    if (!separate) {
        const long got = map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
        if (!is_error(got)) start_ = static_cast<std::uint64_t>(got);
        if (!is_refusal(got)) return !is_error(got);
    }
    const long got = map_file(bytes, [&](int flags, int fd) { return map(PROT_READ | PROT_EXEC, flags, fd); });
    if (is_error(got)) return false;
    const auto start = static_cast<std::uint64_t>(got);
    const std::uint64_t writable = map_writable(start, bytes);
    if (writable == 0) {
        unmap(start);
        return false;
    }
    start_ = start;
    to_writable_ = static_cast<std::ptrdiff_t>(writable - start);
    return true;
}

bool CodeMemory::map_at(std::uint64_t address, std::uint64_t bytes, bool exactly, bool separate) {
    const auto map = [&](int protection, int flags, int fd) {
        return map_own_pages_at(address, bytes, protection, flags | (exactly ? MAP_FIXED_NOREPLACE : 0), fd);
    };
    return map_by(bytes, separate, map, [&](std::uint64_t start) {
        own_pages.remove(start, start + bytes);
        kernel_call(__NR_munmap, start, bytes);
    });
}

bool CodeMemory::map_guarded(std::uint64_t bytes, bool separate) {
    const auto map = [&](int protection, int flags, int fd) { return map_own_pages(bytes, protection, flags, fd); };
    return map_by(bytes, separate, map, [&](std::uint64_t start) { release_pages(at_address<void>(start), bytes); });
}

void CodeMemory::discard(std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t at = start_ + static_cast<std::uint64_t>(to_writable_) + offset;
    // MADV_DONTNEED only unmaps pages of a file; MADV_REMOVE frees them.
    if (has_separate_writes())
        kernel_call(__NR_madvise, at, page_up(bytes), MADV_REMOVE);
    else
        discard_pages(at_address<void>(at), bytes);
}

void CodeMemory::written() const {
    if (has_separate_writes()) serialize();
}

bool CodeMemory::begin_copy(std::initializer_list<Used> used) {
    if (!has_separate_writes()) return true;
    const long got =
        map_file(bytes_, [&](int flags, int fd) { return map_own_pages(bytes_, PROT_READ | PROT_EXEC, flags, fd); });
    if (is_error(got)) return false;
    copy_ = static_cast<std::uint64_t>(got);
    writable_copy_ = map_writable(copy_, bytes_);
    if (writable_copy_ == 0) {
        drop_copy();
        return false;
    }
    const auto copy = [&](std::uint64_t offset, std::uint64_t bytes) {
        if (bytes == 0) return;
        auto* const to = at_address<std::uint8_t>(writable_copy_ + offset);
        touch_pages(to, bytes);
        __builtin_memcpy(to, at_address<const void>(start_ + offset), bytes);
    };
    for (const Used& part : used) copy(part.offset, part.bytes);
    return true;
}

void CodeMemory::drop_copy() {
    if (copy_ != 0) release_pages(at_address<void>(copy_), bytes_);
    if (writable_copy_ != 0) release_pages(at_address<void>(writable_copy_), bytes_);
    copy_ = writable_copy_ = 0;
}

bool CodeMemory::take_copy() {
    if (copy_ == 0) return true;
    const std::uint64_t writable = start_ + static_cast<std::uint64_t>(to_writable_);
    if (is_error(kernel_call(__NR_mremap, copy_, bytes_, bytes_, kMoveTo, start_)) ||
        is_error(kernel_call(__NR_mremap, writable_copy_, bytes_, bytes_, kMoveTo, writable)))
        return false;
    drop_copy();  // the guard pages are left
    return true;
}

}  // namespace anyperf::engine
