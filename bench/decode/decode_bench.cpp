// decode_bench.cpp: nanoseconds to decode an instruction of libc, with the engine's decoder and with Zydis, in one run.
#include <Zydis/Zydis.h>
#include <benchmark/benchmark.h>
#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "engine/x86_64/decode/decode.h"

namespace anyperf::engine::x86_64 {
namespace {

constexpr const char* kLibrary = "/lib/x86_64-linux-gnu/libc.so.6";

/// The library's first executable segment; empty if it can't be read.
std::span<const std::uint8_t> code() {
    static const std::vector<std::uint8_t> file = [] {
        std::ifstream in{kLibrary, std::ios::binary};
        return std::vector<std::uint8_t>{std::istreambuf_iterator<char>{in}, {}};
    }();
    Elf64_Ehdr header;
    if (file.size() < sizeof header) return {};
    std::memcpy(&header, file.data(), sizeof header);
    for (unsigned n = 0; n < header.e_phnum; ++n) {
        Elf64_Phdr segment;
        std::memcpy(&segment, file.data() + header.e_phoff + n * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD && segment.p_flags & PF_X)
            return std::span{file}.subspan(segment.p_offset, segment.p_filesz);
    }
    return {};
}

/// Decodes the whole segment from its start. `decode_at` returns the length of an instruction, or 0 if the bytes are
/// not one (padding, data); then the sweep goes on at the next byte.
template <typename DecodeAt>
void sweep(benchmark::State& state, DecodeAt decode_at) {
    const auto bytes = code();
    if (bytes.empty()) return state.SkipWithError("libc can't be read");
    std::int64_t instructions = 0;
    for (auto _ : state)
        for (std::size_t at = 0; at < bytes.size(); ++instructions) {
            const std::size_t length = decode_at(bytes.subspan(at));
            at += length ? length : 1;
        }
    state.counters["an_instruction"] = benchmark::Counter(static_cast<double>(instructions),
                                                          benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void anyperf_decode(benchmark::State& state) {
    sweep(state, [](std::span<const std::uint8_t> bytes) -> std::size_t {
        Instruction instruction;
        const bool is_one = decode(bytes.data(), bytes.size(), instruction) == DecodeStatus::ok;
        benchmark::DoNotOptimize(instruction);
        return is_one ? instruction.length : 0;
    });
}
BENCHMARK(anyperf_decode);

ZydisDecoder decoder() {
    ZydisDecoder fresh;
    ZydisDecoderInit(&fresh, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return fresh;
}

void zydis_without_operands(benchmark::State& state) {
    sweep(state, [decoder = decoder()](std::span<const std::uint8_t> bytes) -> std::size_t {
        ZydisDecoderContext context;
        ZydisDecodedInstruction instruction;
        const auto status = ZydisDecoderDecodeInstruction(&decoder, &context, bytes.data(), bytes.size(), &instruction);
        return ZYAN_SUCCESS(status) ? instruction.length : 0;
    });
}
BENCHMARK(zydis_without_operands);

void zydis_full(benchmark::State& state) {
    sweep(state, [decoder = decoder()](std::span<const std::uint8_t> bytes) -> std::size_t {
        ZydisDecodedInstruction instruction;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
        const auto status = ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &instruction, operands);
        return ZYAN_SUCCESS(status) ? instruction.length : 0;
    });
}
BENCHMARK(zydis_full);

}  // namespace
}  // namespace anyperf::engine::x86_64

BENCHMARK_MAIN();
