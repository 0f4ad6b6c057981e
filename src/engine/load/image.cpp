// image.cpp: load_elf_binary() of fs/binfmt_elf.c, as far as a process that exists already can do it.
//
// The differences are intended: segments of code are mapped readable, because the engine reads what it translates. A
// file may have 64 segments at most; real programs have about a dozen. After an error, mapped segments stay mapped.
#include "engine/load/image.h"

#include <errno.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "engine/freestanding/pages.h"

namespace anyperf::engine {

namespace {

/// pread of exactly `bytes`; a shorter file is not a program.
std::expected<void, long> read_exactly(int fd, void* to, std::size_t bytes, std::uint64_t offset) {
    const long got = kernel_call(__NR_pread64, static_cast<unsigned>(fd), address_of(to), bytes, offset);
    if (is_error(got)) return std::unexpected(-got);
    if (static_cast<std::size_t>(got) != bytes) return std::unexpected(ENOEXEC);
    return {};
}

/// Whether the header is of an x86-64 program or library.
bool is_supported(const Elf64_Ehdr& header) {
    return header.e_ident[EI_MAG0] == ELFMAG0 && header.e_ident[EI_MAG1] == ELFMAG1 &&
           header.e_ident[EI_MAG2] == ELFMAG2 && header.e_ident[EI_MAG3] == ELFMAG3 &&
           header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64 &&
           (header.e_type == ET_EXEC || header.e_type == ET_DYN) && header.e_phentsize == sizeof(Elf64_Phdr) &&
           header.e_phnum > 0 && header.e_phnum <= ElfFile::kMaximumSegments;
}

int protection_of(const Elf64_Phdr& segment) {
    // The engine reads the code that it translates.
    const bool executable = (segment.p_flags & PF_X) != 0;
    return ((segment.p_flags & PF_R) != 0 || executable ? PROT_READ : 0) |
           ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) | (executable ? PROT_EXEC : 0);
}

/// Whether a segment has no more bytes in the file than in memory, and ends below the last address of a process.
/// load_elf_binary() (fs/binfmt_elf.c) checks the same. Without the check, a damaged file could be mapped over memory
/// outside of its span.
bool is_valid(const Elf64_Phdr& segment) {
    constexpr std::uint64_t kTaskSize = (std::uint64_t{1} << 47) - kPageBytes;  // TASK_SIZE of x86-64, 4-level paging
    return segment.p_filesz <= segment.p_memsz && segment.p_memsz <= kTaskSize &&
           segment.p_vaddr <= kTaskSize - segment.p_memsz;
}

/// The addresses from the first segment to the last, as the file has them, and the largest alignment of a segment.
struct Span {
    std::uint64_t start = ~std::uint64_t{0};
    std::uint64_t end = 0;
    std::uint64_t alignment = kPageBytes;
};

Span span_of(const ElfFile& file) {
    Span span;
    for (std::size_t i = 0; i < file.header.e_phnum; ++i) {
        const Elf64_Phdr& segment = file.segments[i];
        if (segment.p_type != PT_LOAD) continue;
        span.start = std::min(span.start, page_down(segment.p_vaddr));
        span.end = std::max(span.end, page_up(segment.p_vaddr + segment.p_memsz));
        if (std::has_single_bit(segment.p_align))
            span.alignment = std::max<std::uint64_t>(span.alignment, segment.p_align);
    }
    return span;
}

/// Reserves the whole span, so that no other mapping comes between the segments. Returns the bias, a multiple of the
/// largest p_align as in the kernel (maximum_alignment() in fs/binfmt_elf.c). To align it, `slack` bytes more are
/// reserved, and those before and after the aligned part are unmapped.
std::expected<std::uint64_t, long> reserve_span(const ElfFile& file, const Span& span, std::uint64_t preferred) {
    const std::uint64_t bytes = span.end - span.start;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (!file.position_independent()) {
        const long got = map_pages(span.start, bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE);
        if (is_error(got)) return std::unexpected(-got);
        return 0;
    }
    if (preferred != 0) {
        const std::uint64_t wished = (preferred & ~(span.alignment - 1)) + span.start;
        const long got = map_pages(wished, bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE);
        if (!is_error(got)) return wished - span.start;
    }
    const std::uint64_t slack = span.alignment - kPageBytes;
    const long got = map_pages(0, bytes + slack, PROT_NONE, flags);  // the kernel chooses
    if (is_error(got)) return std::unexpected(-got);
    const auto place = static_cast<std::uint64_t>(got);
    const std::uint64_t aligned = (place - span.start + span.alignment - 1) & ~(span.alignment - 1);
    const std::uint64_t start = aligned + span.start;
    if (start > place) kernel_call(__NR_munmap, place, start - place);
    if (place + slack > start) kernel_call(__NR_munmap, start + bytes, place + slack - start);
    return aligned;
}

/// Makes the part of a segment that is not in the file (bss): zeros to the end of the page, then anonymous pages. The
/// last page of the file is mapped whole, so it has bytes of the file after p_filesz. padzero() of the kernel clears
/// them, too; ld.so's early allocations use the rest of that page and expect zeros.
std::expected<void, long> zero_rest(const Elf64_Phdr& segment, std::uint64_t bias) {
    const std::uint64_t file_end = bias + segment.p_vaddr + segment.p_filesz;
    const std::uint64_t end = page_up(bias + segment.p_vaddr + segment.p_memsz);
    if (segment.p_memsz <= segment.p_filesz) return {};
    if (segment.p_filesz != 0 && (segment.p_flags & PF_W) != 0)
        for (std::uint64_t at = file_end; at < page_up(file_end); ++at) *at_address<char>(at) = 0;
    const std::uint64_t start = segment.p_filesz == 0 ? page_down(file_end) : page_up(file_end);
    if (start >= end) return {};
    const long got = map_pages(start, end - start, protection_of(segment), MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
    if (is_error(got)) return std::unexpected(-got);
    return {};
}

std::expected<void, long> map_segment(const ElfFile& file, const Elf64_Phdr& segment, std::uint64_t bias) {
    if (segment.p_filesz != 0) {
        const std::uint64_t start = page_down(bias + segment.p_vaddr);
        const std::uint64_t skew = bias + segment.p_vaddr - start;
        if ((segment.p_offset - skew) % kPageBytes != 0) return std::unexpected(ENOEXEC);
        const long got = map_pages(start, segment.p_filesz + skew, protection_of(segment), MAP_PRIVATE | MAP_FIXED,
                                   file.fd, segment.p_offset - skew);
        if (is_error(got)) return std::unexpected(-got);
    }
    return zero_rest(segment, bias);
}

/// Adds the mapped segment to the image's bounds and to what may be executed.
void add_segment(const Elf64_Phdr& segment, std::uint64_t bias, Image& image, ExecutableMap& executable) {
    const std::uint64_t start = bias + segment.p_vaddr;
    const std::uint64_t end = start + segment.p_memsz;
    if ((segment.p_flags & PF_X) != 0) {
        executable.add({page_down(start), page_up(end), (segment.p_flags & PF_W) != 0, false});
        if (image.code_start == 0 || start < image.code_start) image.code_start = start;
        image.code_end = std::max(image.code_end, start + segment.p_filesz);
    } else if ((segment.p_flags & PF_W) != 0) {
        if (image.data_start == 0) image.data_start = start;
        image.data_end = std::max(image.data_end, start + segment.p_filesz);
    }
    image.end = std::max(image.end, end);
}

}  // namespace

std::expected<void, long> read_elf(int fd, ElfFile& out) {
    out.fd = fd;
    out.interpreter[0] = 0;
    if (const auto read = read_exactly(fd, &out.header, sizeof out.header, 0); !read) return read;
    if (!is_supported(out.header)) return std::unexpected(ENOEXEC);
    const std::size_t bytes = out.header.e_phnum * sizeof(Elf64_Phdr);
    if (const auto read = read_exactly(fd, out.segments, bytes, out.header.e_phoff); !read) return read;
    for (std::size_t i = 0; i < out.header.e_phnum; ++i) {
        const Elf64_Phdr& segment = out.segments[i];
        if (segment.p_type != PT_INTERP) continue;
        if (segment.p_filesz < 2 || segment.p_filesz >= sizeof out.interpreter) return std::unexpected(ENOEXEC);
        if (const auto read = read_exactly(fd, out.interpreter, segment.p_filesz, segment.p_offset); !read) return read;
        if (out.interpreter[segment.p_filesz - 1] != 0) return std::unexpected(ENOEXEC);
    }
    return {};
}

std::expected<Image, long> map_image(const ElfFile& file, std::uint64_t preferred, ExecutableMap& executable) {
    for (std::size_t i = 0; i < file.header.e_phnum; ++i)
        if (file.segments[i].p_type == PT_LOAD && !is_valid(file.segments[i])) return std::unexpected(ENOEXEC);
    const Span span = span_of(file);
    if (span.end <= span.start) return std::unexpected(ENOEXEC);
    const auto bias = reserve_span(file, span, preferred);
    if (!bias) return std::unexpected(bias.error());
    Image image;
    image.bias = *bias;
    image.entry = *bias + file.header.e_entry;
    for (std::size_t i = 0; i < file.header.e_phnum; ++i) {
        const Elf64_Phdr& segment = file.segments[i];
        if (segment.p_type != PT_LOAD) continue;
        if (const auto mapped = map_segment(file, segment, *bias); !mapped) return std::unexpected(mapped.error());
        add_segment(segment, *bias, image, executable);
        // AT_PHDR is the address of the headers in a segment, which is not always bias + e_phoff.
        const std::uint64_t headers = file.header.e_phoff;
        if (headers >= segment.p_offset && headers < segment.p_offset + segment.p_filesz)
            image.headers = *bias + segment.p_vaddr + (headers - segment.p_offset);
    }
    return image;
}

}  // namespace anyperf::engine
