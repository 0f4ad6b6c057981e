// memory.cpp: the C functions that the compiler may call on its own. The engine has no libc, and libc's versions use
// vector registers, which belong to the application. -fno-tree-loop-distribute-patterns keeps gcc from turning a loop
// in here into a call of the function itself.
#include <cstddef>
#include <cstdint>

namespace {

using Word [[gnu::aligned(1), gnu::may_alias]] = std::uint64_t;

/// rep movsb and rep stosb take some twenty cycles to begin. Most calls are for fewer bytes than these.
constexpr std::size_t kFew = 128;

}  // namespace

extern "C" {

// rep movsb is one instruction and uses no vector register. The last word may overlap the one before it, so that a copy
// has one branch at its end. It is read first, because memmove() calls this for ranges that overlap.
void* memcpy(void* __restrict to, const void* __restrict from, std::size_t count) {
    if (count <= kFew && count >= sizeof(Word)) {
        auto* out = static_cast<std::uint8_t*>(to);
        const auto* in = static_cast<const std::uint8_t*>(from);
        std::uint8_t* const end = out + count - sizeof(Word);
        const Word last = *reinterpret_cast<const Word*>(in + count - sizeof(Word));
        for (; out < end; out += sizeof(Word), in += sizeof(Word))
            *reinterpret_cast<Word*>(out) = *reinterpret_cast<const Word*>(in);
        *reinterpret_cast<Word*>(end) = last;
        return to;
    }
    if (count <= kFew) {
        auto* out = static_cast<std::uint8_t*>(to);
        const auto* in = static_cast<const std::uint8_t*>(from);
        for (; count > 0; --count) *out++ = *in++;
        return to;
    }
    void* cursor = to;
    asm volatile("rep movsb" : "+D"(cursor), "+S"(from), "+c"(count) : : "memory");
    return to;
}

void* memset(void* to, int value, std::size_t count) {
    if (count <= kFew) {
        auto* out = static_cast<std::uint8_t*>(to);
        const std::uint64_t word = (static_cast<unsigned>(value) & 0xffu) * 0x0101010101010101u;
        for (; count >= sizeof(Word); count -= sizeof(Word), out += sizeof(Word)) *reinterpret_cast<Word*>(out) = word;
        for (; count > 0; --count) *out++ = static_cast<std::uint8_t>(value);
        return to;
    }
    void* cursor = to;
    asm volatile("rep stosb" : "+D"(cursor), "+c"(count) : "a"(value) : "memory");
    return to;
}

void* memmove(void* to, const void* from, std::size_t count) {
    auto* out = static_cast<std::uint8_t*>(to);
    const auto* in = static_cast<const std::uint8_t*>(from);
    if (out <= in || out >= in + count) return memcpy(to, from, count);
    while (count-- > 0) out[count] = in[count];
    return to;
}

int memcmp(const void* a, const void* b, std::size_t count) {
    const auto* left = static_cast<const std::uint8_t*>(a);
    const auto* right = static_cast<const std::uint8_t*>(b);
    for (std::size_t i = 0; i < count; ++i)
        if (left[i] != right[i]) return left[i] - right[i];
    return 0;
}

// Searched by words: `differs` has a zero byte where the word has the value, and the well-known expression on it sets
// the highest bit of the first zero byte (it may set bits of later bytes, which do not matter).
void* memchr(const void* from, int value, std::size_t count) {
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    const auto* bytes = static_cast<const std::uint8_t*>(from);
    const auto wanted = static_cast<std::uint8_t>(value);
    std::size_t i = 0;
    for (; i + sizeof(std::uint64_t) <= count; i += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        __builtin_memcpy(&word, bytes + i, sizeof word);
        const std::uint64_t differs = word ^ (kOnes * wanted);
        const std::uint64_t zeros = (differs - kOnes) & ~differs & (kOnes << 7);
        if (zeros != 0) return const_cast<std::uint8_t*>(bytes + i + __builtin_ctzll(zeros) / 8);
    }
    for (; i < count; ++i)
        if (bytes[i] == wanted) return const_cast<std::uint8_t*>(bytes + i);
    return nullptr;
}

std::size_t strlen(const char* text) {
    std::size_t length = 0;
    while (text[length] != 0) ++length;
    return length;
}
}
