// start_stack.cpp: lays the initial stack out as the kernel does (copy_strings() in fs/exec.c, create_elf_tables() in
// fs/binfmt_elf.c), from the top down:
//
//   8 bytes of zeros             the end of the stack's mapping
//   the program's path           AT_EXECFN
//   environment, arguments       their strings, the first argument's the lowest
//   a gap                        to a multiple of 16; with address randomisation up to 8 KiB more
//   "x86_64"                     AT_PLATFORM
//   16 random bytes              AT_RANDOM
//   auxiliary vector, pointers to the environment and to the arguments, the number of arguments: at a multiple of 16
//
// The kernel has made such a stack for the engine, with more arguments and another path. The program's stack is built
// in separate memory and then copied over the engine's. It begins at a higher address, because it is smaller. So the
// program's strings have the same addresses as without anyperf. This affects counts: string functions read whole
// vectors, and take another path near the end of a page.
#include "engine/load/start_stack.h"

#include <errno.h>

#include <string_view>

#include "engine/freestanding/pages.h"
#include "engine/presented_cpu.h"
#include "engine/x86_64/cpu/cpuid.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kAtRseqFeatureSize = 27;  // linux/auxvec.h since 6.3
constexpr std::uint64_t kAtRseqAlign = 28;
constexpr std::size_t kRandomBytes = 16;

/// Replaces an entry that describes the host's CPU, where programs see another one.
void set_cpu_entry(Elf64_auxv_t& entry, const run::RunHeader& run) {
    constexpr std::uint64_t kAtMinimalSignalStack = 51;  // linux/auxvec.h since 5.14
    constexpr std::uint64_t kFsGsBase = 2;               // HWCAP2_FSGSBASE (asm/hwcap2.h)
    constexpr std::uint32_t kStructuredFeatures = 7;
    const auto shown = [&](std::uint32_t leaf) { return x86_64::cpuid(leaf, 0, &run); };
    switch (entry.a_type) {
        case AT_HWCAP: entry.a_un.a_val = shown(1).edx; break;
        case AT_HWCAP2: entry.a_un.a_val &= (shown(kStructuredFeatures).ebx & 1) != 0 ? kFsGsBase : 0; break;
        case kAtMinimalSignalStack: entry.a_un.a_val = smallest_signal_stack(run); break;
        default: break;
    }
}

/// Replaces an entry of the auxiliary vector that describes the engine by the program's.
void set_entry(Elf64_auxv_t& entry, const StartFacts& facts) {
    switch (entry.a_type) {
        case kAtRseqFeatureSize:
        case kAtRseqAlign: entry.a_type = AT_IGNORE; break;  // rseq is refused; the vector keeps its length
        case AT_SYSINFO_EHDR:
            // The vDSO reads the kernel's clocks. A deterministic run has its own (time/virtual_clock.h).
            if (facts.random != nullptr) entry.a_type = AT_IGNORE;
            break;
        case AT_PHDR: entry.a_un.a_val = facts.program->headers; break;
        case AT_PHNUM: entry.a_un.a_val = facts.file->header.e_phnum; break;
        case AT_PHENT: entry.a_un.a_val = sizeof(Elf64_Phdr); break;
        case AT_BASE: entry.a_un.a_val = facts.loader_base; break;
        case AT_ENTRY: entry.a_un.a_val = facts.program->entry; break;
        default: break;
    }
}

/// Whether the program gets an entry of this type. A deterministic run with the CPU of a level has the same counts on
/// all machines, so it gets only those of Linux 6.1, which is what uname(2) says there: the loader executes some
/// instructions for each entry.
bool is_passed_on(std::uint64_t type, const StartFacts& facts) {
    constexpr std::uint64_t kLastOfShownKernel = 51;
    if (facts.random == nullptr || facts.run == nullptr || facts.run->cpu_level == 0) return true;
    return type <= kLastOfShownKernel && type != kAtRseqFeatureSize && type != kAtRseqAlign;
}

std::size_t bytes_of(const char* text) {
    return std::string_view{text}.size() + 1;
}

/// A stack that ends at `top`, built from its end in separate memory, because the engine's stack, from which the parts
/// come, ends at the same top. Each part has its final address at once.
class StackImage {
  public:
    StackImage(std::uint64_t top, std::uint64_t bytes) : top_(top), bytes_(bytes) {
        memory_ = static_cast<std::byte*>(reserve_pages(page_up(bytes)));
        at_ = bytes;
    }
    ~StackImage() { release_pages(memory_, page_up(bytes_)); }
    StackImage(const StackImage&) = delete;
    StackImage& operator=(const StackImage&) = delete;

    bool has_memory() const { return memory_ != nullptr; }
    /// The final address of the part that was put last, or of a next part of `bytes` bytes.
    std::uint64_t address(std::uint64_t bytes = 0) const { return top_ - bytes_ + at_ - bytes; }

    std::uint64_t put(const void* from, std::size_t bytes) {
        at_ -= bytes;
        __builtin_memcpy(memory_ + at_, from, bytes);
        return address();
    }
    std::uint64_t put_string(const char* text) { return put(text, bytes_of(text)); }
    void put_word(std::uint64_t word) { put(&word, sizeof word); }
    void skip(std::uint64_t bytes) { at_ -= bytes; }

    /// Copies the image to its place on the stack. Clears the stack from `start` to the image.
    void copy_to_stack(std::uint64_t start) const {
        for (std::uint64_t at = start; at < address(); at += sizeof(std::uint64_t)) *at_address<std::uint64_t>(at) = 0;
        __builtin_memcpy(at_address<std::byte>(address()), memory_ + at_, bytes_ - at_);
    }

  private:
    std::uint64_t top_;
    std::uint64_t bytes_;   ///< size of `memory_`
    std::uint64_t at_ = 0;  ///< offset of the part that was put last
    std::byte* memory_ = nullptr;
};

/// The gap that the kernel's address randomisation left below the strings, without the alignment; 0 if it left none.
std::uint64_t random_gap(const StartStack& stack) {
    const std::uint64_t platform = stack.auxiliary_value(AT_PLATFORM, 0);
    if (platform == 0) return 0;
    const std::uint64_t end = platform + bytes_of(at_address<const char>(platform));
    return (address_of(stack.arguments[0]) - end) & ~std::uint64_t{15};
}

/// Puts `count` strings, the last one first. Returns the address of the first one, which is the lowest.
std::uint64_t put_strings(StackImage& image, char* const* strings, std::size_t count) {
    for (std::size_t i = count; i > 0; --i) image.put_string(strings[i - 1]);
    return image.address();
}

/// Puts pointers to consecutive strings, of which the first is at `first`, and a null pointer after them.
void put_pointers(StackImage& image, char* const* strings, std::size_t count, std::uint64_t first) {
    image.put_word(0);
    std::uint64_t end = first;
    for (std::size_t i = 0; i < count; ++i) end += bytes_of(strings[i]);
    for (std::size_t i = count; i > 0; --i) {
        end -= bytes_of(strings[i - 1]);
        image.put_word(end);
    }
}

std::uint64_t count_passed_on(const StartStack& stack, const StartFacts& facts) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < stack.auxiliary_count; ++i) count += is_passed_on(stack.auxiliary[i].a_type, facts);
    return count;
}

/// Puts AT_RANDOM's bytes, the kernel's or those of a deterministic run, and returns their address.
std::uint64_t put_random_bytes(StackImage& image, const StartStack& stack, RandomStream* random) {
    std::uint64_t bytes[kRandomBytes / sizeof(std::uint64_t)] = {};
    if (const std::uint64_t from = stack.auxiliary_value(AT_RANDOM, 0); from != 0)
        __builtin_memcpy(bytes, at_address<const std::byte>(from), sizeof bytes);
    if (random != nullptr)
        for (std::uint64_t& word : bytes) word = random->next();
    return image.put(bytes, sizeof bytes);
}

}  // namespace

StartStack StartStack::at(std::uint64_t* words) {
    StartStack stack;
    stack.words = words;
    stack.argument_count = words[0];
    stack.arguments = reinterpret_cast<char**>(words + 1);
    stack.environment = stack.arguments + stack.argument_count + 1;
    char** end = stack.environment;
    while (*end != nullptr) ++end;
    stack.auxiliary = reinterpret_cast<Elf64_auxv_t*>(end + 1);
    while (stack.auxiliary[stack.auxiliary_count++].a_type != AT_NULL) {
    }
    return stack;
}

std::uint64_t StartStack::auxiliary_value(std::uint64_t type, std::uint64_t otherwise) const {
    for (std::size_t i = 0; i < auxiliary_count; ++i)
        if (auxiliary[i].a_type == type) return auxiliary[i].a_un.a_val;
    return otherwise;
}

std::expected<std::uint64_t*, long> rewrite_start_stack(const StartStack& stack, const StartFacts& facts) {
    char* const* const arguments = stack.arguments + facts.dropped;
    const std::size_t argument_count = stack.argument_count - facts.dropped;
    std::size_t environment_count = 0;
    while (stack.environment[environment_count] != nullptr) ++environment_count;
    const char* const engine_path = at_address<const char>(stack.auxiliary_value(AT_EXECFN, 0));
    const char* const platform = at_address<const char>(stack.auxiliary_value(AT_PLATFORM, 0));
    if (engine_path == nullptr || platform == nullptr) return std::unexpected(EINVAL);  // Linux has both on x86-64
    const std::uint64_t top = address_of(engine_path) + bytes_of(engine_path) + sizeof(std::uint64_t);
    StackImage image{top, top - address_of(stack.words)};
    if (!image.has_memory()) return std::unexpected(ENOMEM);

    image.skip(sizeof(std::uint64_t));
    const std::uint64_t path = image.put_string(facts.path);
    const std::uint64_t first_variable = put_strings(image, stack.environment, environment_count);
    const std::uint64_t first_argument = put_strings(image, arguments, argument_count);
    image.skip(random_gap(stack) + image.address() % 16);
    const std::uint64_t platform_address = image.put_string(platform);
    const std::uint64_t random = put_random_bytes(image, stack, facts.random);

    const std::size_t words = 1 + argument_count + 1 + environment_count + 1;
    const std::size_t vector_bytes = count_passed_on(stack, facts) * sizeof(Elf64_auxv_t);
    image.skip(image.address(vector_bytes + words * sizeof(std::uint64_t)) % 16);
    for (std::size_t i = stack.auxiliary_count; i > 0; --i) {
        Elf64_auxv_t entry = stack.auxiliary[i - 1];
        if (!is_passed_on(entry.a_type, facts)) continue;
        set_entry(entry, facts);
        if (facts.run != nullptr && facts.run->cpu_level != 0) set_cpu_entry(entry, *facts.run);
        if (entry.a_type == AT_EXECFN) entry.a_un.a_val = path;
        if (entry.a_type == AT_PLATFORM) entry.a_un.a_val = platform_address;
        if (entry.a_type == AT_RANDOM) entry.a_un.a_val = random;
        image.put(&entry, sizeof entry);
    }
    put_pointers(image, stack.environment, environment_count, first_variable);
    put_pointers(image, arguments, argument_count, first_argument);
    image.put_word(argument_count);
    image.copy_to_stack(address_of(stack.words));
    return at_address<std::uint64_t>(image.address());
}

}  // namespace anyperf::engine
