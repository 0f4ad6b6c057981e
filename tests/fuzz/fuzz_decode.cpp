// fuzz_decode.cpp: for any bytes the decoder never reads past their end, agrees with Zydis (the oracle) or has a row in
// the known differences, and returns `truncated` only if more bytes could complete an instruction.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "unit/engine/decode_oracle.h"

namespace x86 = anyperf::engine::x86_64;

namespace {

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

/// Decodes from an allocation of exactly this size, so that the sanitizer detects a read past the end.
x86::DecodeStatus status_of(const std::uint8_t* data, std::size_t size) {
    const std::vector<std::uint8_t> exact(data, data + size);
    x86::Instruction instruction;
    return x86::decode(exact.data(), exact.size(), instruction);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    size = std::min<std::size_t>(size, 40);
    const x86::DecodeStatus whole = status_of(data, size);
    if (size >= 15 && whole == x86::DecodeStatus::truncated) fail("truncated at 15 bytes or more");
    const x86::Comparison comparison = x86::compare({data, size});
    if (!comparison.faults.empty()) fail(comparison.faults.c_str());
    for (std::size_t shorter = 0; shorter < std::min<std::size_t>(size, 15); ++shorter) {
        const x86::DecodeStatus status = status_of(data, shorter);
        if (status != x86::DecodeStatus::truncated && status != whole)
            fail("a prefix has neither the status truncated nor that of all bytes");
    }
    return 0;
}
