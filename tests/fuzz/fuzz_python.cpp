// fuzz_python.cpp: any bytes as the memory of a Python program: every walk ends, and nothing outside of the buffers is
// touched.
#include <array>
#include <cstdlib>
#include <cstring>

#include "python/code.h"
#include "python/frames.h"
#include "python/lines.h"
#include "python/runtime.h"

namespace {

using namespace anyperf::python;

/// The input is at these addresses, so that numbers of 16 bits in it may be pointers.
constexpr std::uint64_t kStart = 0x100;

struct Input {
    const std::uint8_t* data;
    std::size_t size;
};

bool copy(void* context, void* to, std::uint64_t from, std::size_t bytes) {
    const auto& input = *static_cast<const Input*>(context);
    if (from < kStart || from - kStart > input.size || bytes > input.size - (from - kStart)) return false;
    std::memcpy(to, input.data + (from - kStart), bytes);
    return true;
}

void require(bool holds) {
    if (!holds) std::abort();
}

void read_all(const Memory& memory, const Runtime& runtime, std::uint64_t thread) {
    std::array<Frame, 32> frames;
    std::uint64_t known = thread;
    const std::size_t count = walk_frames(memory, runtime, memory.word(kStart), known, frames);
    require(count <= frames.size());
    for (std::size_t i = 0; i < count; ++i) {
        Code code;
        if (!read_code(memory, runtime.layout, frames[i].code, code)) continue;
        require(code.name.size <= code.name.bytes.size() && code.file.size <= code.file.bytes.size());
        line_at(memory, runtime.layout.line_table, code.lines, frames[i].offset, code.first_line);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 16) return 0;
    Input input{data, size};
    const Memory memory{&input, copy};
    if (const auto runtime = find_runtime(memory, kStart)) read_all(memory, *runtime, 0);
    for (std::uint16_t minor = 8; minor <= 13; ++minor)
        if (const auto layout = layout_of(memory, minor, kStart))
            read_all(memory, {.layout = *layout, .state = kStart, .eval_start = 0, .eval_end = 0}, kStart + data[8]);
    for (const LineTable kind : {LineTable::deltas, LineTable::ranges, LineTable::locations})
        line_at(memory, kind, kStart, data[9] * 16, 1);
    return 0;
}
