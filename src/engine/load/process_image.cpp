// process_image.cpp: does what load_elf_binary() of the kernel does after it has read the headers, in a process that
// exists already.
//
// Programs see the results as without anyperf: the addresses (a program with a loader near 0x555…; the loader, and a
// program without one, among the mappings), the break after the image's end, the auxiliary vector, and the names in
// /proc. They do not see the engine's image and its first arguments. Nothing is random if the process's personality
// turns randomization off.
#include "engine/load/process_image.h"

#include <linux/prctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <string_view>

#include "engine/freestanding/pages.h"
#include "engine/freestanding/text.h"
#include "engine/memory/written_files.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kPieBase = 0x555555554000;     // ELF_ET_DYN_BASE of x86-64
constexpr std::uint64_t kNoRandomisation = 0x0040000;  // ADDR_NO_RANDOMIZE, personality(2)

bool randomised() {
    return (kernel_call(__NR_personality, 0xffffffff) & static_cast<long>(kNoRandomisation)) == 0;
}

std::uint64_t random_bits(unsigned bits) {
    std::uint64_t value = 0;
    kernel_call(__NR_getrandom, address_of(&value), sizeof value, 0);
    return value & ((std::uint64_t{1} << bits) - 1);
}

/// The bias that the kernel would choose for a position-independent program: with a loader near 0x555…, without one
/// among the mappings (0).
std::uint64_t preferred_bias(const ElfFile& program) {
    if (!program.has_interpreter()) return 0;
    constexpr unsigned kRandomPages = 28;  // mmap_rnd_bits
    return kPieBase + (randomised() ? random_bits(kRandomPages) << 12 : 0);
}

/// Adds the image's code to the store of translations, where it may not be written.
void store_code(Engine& engine, const ElfFile& file, const Image& image) {
    if (!engine.store.on()) return;
    for (std::size_t i = 0; i < file.header.e_phnum; ++i) {
        const Elf64_Phdr& segment = file.segments[i];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || (segment.p_flags & PF_W) != 0) continue;
        const std::uint64_t start = page_down(image.bias + segment.p_vaddr);
        const std::uint64_t skew = image.bias + segment.p_vaddr - start;
        const std::uint64_t end = page_up(image.bias + segment.p_vaddr + segment.p_filesz);
        const std::uint32_t number = engine.store.add_mapping(file.fd, start, end - start, segment.p_offset - skew);
        engine.cache.executable.set_stored(start, end, number);
    }
}

/// Adds the vDSO to the executable memory: it is translated like any other code.
void add_vdso(Engine& engine, std::uint64_t start) {
    if (start == 0) return;
    const auto* header = at_address<const Elf64_Ehdr>(start);
    const auto* segments = at_address<const Elf64_Phdr>(start + header->e_phoff);
    std::uint64_t end = start;
    for (std::size_t i = 0; i < header->e_phnum; ++i)
        if (segments[i].p_type == PT_LOAD) end = page_up(start + segments[i].p_vaddr + segments[i].p_memsz);
    engine.program.vdso_start = start;
    engine.program.vdso_end = end;
    engine.cache.executable.add({start, end, false, false});
}

/// Says where the code of the vDSO, the program and the mappings would be if nothing was random (FixedPlaces). Programs
/// seldom map more than the engine leaves room for, and the kernel places mappings below the first one.
void fix_places(FixedPlaces& places, const Program& program, const Image& image) {
    constexpr std::uint64_t kVdsoBase = 0x7fffff000000;
    constexpr std::uint64_t kMappingsBase = 0x7fd000000000;
    places.add(program.vdso_start, program.vdso_end, kVdsoBase);
    const std::uint64_t mappings = program.first_mapping - std::min(program.first_mapping, kOwnAreaBytes);
    if (image.bias >= kPieBase && image.bias < mappings) places.add(image.bias, image.end, kPieBase);
    places.add(mappings, program.first_mapping + kPageBytes, kMappingsBase);
}

/// Sets what the kernel knows of the image: break, arguments, environment, auxiliary vector (prctl(2) PR_SET_MM_MAP).
/// The kernel checks the values against each other (prctl_set_mm_map()) and takes all or none. If it refuses, the
/// engine's values remain; they are visible in /proc and by brk(2) only.
void set_kernel_memory_map(const Image& image, const StartStack& program_stack, const std::uint64_t* words) {
    const std::uint64_t brk = page_up(image.end) + (randomised() ? random_bits(13) << 12 : 0);
    const char* first = program_stack.arguments[0];
    const char* last =
        program_stack.argument_count == 0 ? first : program_stack.arguments[program_stack.argument_count - 1];
    const std::uint64_t arguments_end = address_of(last) + std::string_view{last}.size() + 1;
    std::uint64_t environment_end = arguments_end;
    for (char** entry = program_stack.environment; *entry != nullptr; ++entry)
        environment_end = address_of(*entry) + std::string_view{*entry}.size() + 1;
    prctl_mm_map map{};
    map.start_code = image.code_start;
    map.end_code = image.code_end;
    map.start_data = image.data_start != 0 ? image.data_start : image.code_start;
    map.end_data = image.data_end != 0 ? image.data_end : image.code_end;
    map.start_brk = map.brk = brk;
    map.start_stack = address_of(words);
    map.arg_start = address_of(first);
    map.arg_end = map.env_start = arguments_end;
    map.env_end = environment_end;
    map.auxv = reinterpret_cast<__u64*>(program_stack.auxiliary);
    map.auxv_size = static_cast<__u32>(program_stack.auxiliary_count * sizeof(Elf64_auxv_t));
    // -1: /proc/PID/exe stays the engine; changing it needs a privilege. The engine answers for /proc/self/exe itself.
    map.exe_fd = ~0u;
    kernel_call(__NR_prctl, PR_SET_MM, PR_SET_MM_MAP, address_of(&map), sizeof map);
}

/// Names the program without /proc: by the path with which it was executed, made absolute.
void name_without_proc(Program& program, const char* path) {
    std::string_view rest{path};
    std::size_t length = 0;
    if (!rest.starts_with('/')) {
        const long bytes = kernel_call(__NR_getcwd, address_of(program.path), sizeof program.path);
        length = is_error(bytes) ? 0 : static_cast<std::size_t>(bytes) - 1;
        if (length > 1) program.path[length++] = '/';
    }
    rest = rest.substr(0, sizeof program.path - 1 - length);
    for (const char c : rest) program.path[length++] = c;
    program.path[length] = 0;
}

/// Names the process after the program, for the kernel and for /proc/self/exe.
void set_names(Engine& engine, const char* path, int fd) {
    std::string_view name{path};
    name.remove_prefix(name.rfind('/') + 1);
    kernel_call(__NR_prctl, PR_SET_NAME, address_of(name.data()));
    Line link;
    link.text("/proc/self/fd/").decimal(fd).text(std::string_view{"\0", 1});
    const long length = kernel_call(__NR_readlink, address_of(link.view().data()), address_of(engine.program.path),
                                    sizeof engine.program.path - 1);
    if (is_error(length)) return name_without_proc(engine.program, path);
    engine.program.path[length] = 0;
}

}  // namespace

std::expected<void, long> become_program(Engine& engine, ProgramFile& file, const char* path, const StartStack& stack,
                                         std::uint64_t dropped, x86_64::Registers& registers) {
    set_names(engine, path, file.program.fd);
    const auto program = map_image(file.program, preferred_bias(file.program), engine.cache.executable);
    if (!program) return std::unexpected(program.error());
    store_code(engine, file.program, *program);
    std::uint64_t loader_base = 0;
    registers = {};
    registers.rip = program->entry;
    if (file.loader.fd >= 0) {
        const auto loader = map_image(file.loader, 0, engine.cache.executable);
        if (!loader) return std::unexpected(loader.error());
        store_code(engine, file.loader, *loader);
        loader_base = loader->bias;
        registers.rip = loader->entry;
    }
    note_executed(engine, file.program.fd);
    if (file.loader.fd >= 0) note_executed(engine, file.loader.fd);
    file.close();
    constexpr std::uint64_t kFsGsBase = 2;  // HWCAP2_FSGSBASE (asm/hwcap2.h)
    engine.counting.reads_fs_base = (stack.auxiliary_value(AT_HWCAP2, 0) & kFsGsBase) != 0;
    add_vdso(engine, stack.auxiliary_value(AT_SYSINFO_EHDR, 0));
    fix_places(engine.cache.fixed_places, engine.program, *program);
    const bool seeded = engine.run != nullptr && engine.run->deterministic != 0;
    const auto words = rewrite_start_stack(
        stack, {path, &*program, &file.program, loader_base, dropped, seeded ? &engine.random : nullptr, engine.run});
    if (!words) return std::unexpected(words.error());
    set_kernel_memory_map(*program, StartStack::at(*words), *words);
    registers.r[x86_64::rsp] = address_of(*words);
    return {};
}

}  // namespace anyperf::engine
