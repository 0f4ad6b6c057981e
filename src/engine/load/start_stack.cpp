#include "engine/load/start_stack.h"

#include "engine/freestanding/kernel.h"

extern "C" void* memmove(void* to, const void* from, std::size_t count);

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kAtRseqFeatureSize = 27;  // linux/auxvec.h since 6.3; left out, because rseq is refused
constexpr std::uint64_t kAtRseqAlign = 28;

bool is_dropped(std::uint64_t type) {
    return type == kAtRseqFeatureSize || type == kAtRseqAlign;
}

/// Replaces the values that describe the program.
void set_entry(Elf64_auxv_t& entry, const StartFacts& facts) {
    switch (entry.a_type) {
        case AT_PHDR: entry.a_un.a_val = facts.program->headers; break;
        case AT_PHNUM: entry.a_un.a_val = facts.file->header.e_phnum; break;
        case AT_PHENT: entry.a_un.a_val = sizeof(Elf64_Phdr); break;
        case AT_BASE: entry.a_un.a_val = facts.loader_base; break;
        case AT_ENTRY: entry.a_un.a_val = facts.program->entry; break;
        case AT_EXECFN: entry.a_un.a_val = address_of(facts.path); break;
        default: break;
    }
}

/// The 16 bytes that AT_RANDOM points to; the kernel does not align them.
void fill_random_bytes(std::uint64_t address, RandomStream& random) {
    for (std::size_t word = 0; word < 2; ++word) {
        const std::uint64_t bytes = random.next();
        __builtin_memcpy(at_address<std::byte>(address) + word * sizeof bytes, &bytes, sizeof bytes);
    }
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

std::uint64_t* rewrite_start_stack(const StartStack& stack, const StartFacts& facts) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < stack.auxiliary_count; ++i) {
        Elf64_auxv_t entry = stack.auxiliary[i];
        if (is_dropped(entry.a_type)) continue;
        set_entry(entry, facts);
        if (entry.a_type == AT_RANDOM && facts.random != nullptr) fill_random_bytes(entry.a_un.a_val, *facts.random);
        stack.auxiliary[kept++] = entry;
    }
    const auto* end = reinterpret_cast<std::uint64_t*>(stack.auxiliary + kept);
    std::uint64_t* from = stack.words + facts.dropped;  // the word before the first argument that is kept
    *from = stack.argument_count - facts.dropped;
    const auto count = static_cast<std::size_t>(end - from);
    std::uint64_t* to = from;
    if (address_of(to) % 16 != 0) {
        --to;
        memmove(to, from, count * sizeof(std::uint64_t));
    }
    return to;
}

}  // namespace anyperf::engine
