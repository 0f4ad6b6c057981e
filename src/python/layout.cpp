// layout.cpp: the offsets by version. Source: offsetof() over the headers of CPython 3.8.18, 3.9.18, 3.10.13, 3.11.7
// and 3.12.1, x86-64; tests/unit/python/offsets.py prints and compares them. For 3.13 the interpreter's own description
// is read (struct _Py_DebugOffsets in Include/internal/pycore_runtime.h of CPython 3.13.0).
#include "python/layout.h"

#include <algorithm>
#include <array>

namespace anyperf::python {

namespace {

constexpr std::array kLayouts{
    Layout{.minor = 8,
           .line_table = LineTable::deltas,
           .runtime_interpreters = 32,
           .interpreter_next = 0,
           .interpreter_threads = 8,
           .thread_next = 8,
           .thread_id = 176,
           .thread_frame = 24,
           .frame_previous = 24,
           .frame_code = 32,
           .frame_instruction = 104,
           .code_name = 112,
           .code_file = 104,
           .code_first_line = 40,
           .code_lines = 120,
           .ascii_bytes = 48,
           .compact_bytes = 72},
    Layout{.minor = 9,
           .line_table = LineTable::deltas,
           .runtime_interpreters = 32,
           .interpreter_next = 0,
           .interpreter_threads = 8,
           .thread_next = 8,
           .thread_id = 176,
           .thread_frame = 24,
           .frame_previous = 24,
           .frame_code = 32,
           .frame_instruction = 104,
           .code_name = 112,
           .code_file = 104,
           .code_first_line = 40,
           .code_lines = 120,
           .ascii_bytes = 48,
           .compact_bytes = 72},
    Layout{.minor = 10,
           .line_table = LineTable::ranges,
           .runtime_interpreters = 32,
           .interpreter_next = 0,
           .interpreter_threads = 8,
           .thread_next = 8,
           .thread_id = 176,
           .thread_frame = 24,
           .frame_previous = 24,
           .frame_code = 32,
           .frame_instruction = 96,
           .code_name = 112,
           .code_file = 104,
           .code_first_line = 40,
           .code_lines = 120,
           .ascii_bytes = 48,
           .compact_bytes = 72,
           .index_bytes = 2},
    Layout{.minor = 11,
           .runtime_interpreters = 40,
           .interpreter_next = 0,
           .interpreter_threads = 16,
           .thread_next = 8,
           .thread_id = 152,
           .thread_frame = 56,
           .cframe_current = 8,
           .cframe_previous = 16,
           .frame_previous = 48,
           .frame_code = 32,
           .frame_instruction = 56,
           .frame_is_entry = 68,
           .code_instructions = 184,
           .code_name = 128,
           .code_file = 112,
           .code_first_line = 72,
           .code_lines = 136,
           .ascii_bytes = 48,
           .compact_bytes = 72},
    Layout{.minor = 12,
           .runtime_interpreters = 40,
           .interpreter_next = 0,
           .interpreter_threads = 72,
           .thread_next = 8,
           .thread_id = 136,
           .thread_frame = 56,
           .cframe_current = 0,
           .cframe_previous = 8,
           .frame_previous = 8,
           .frame_code = 0,
           .frame_instruction = 56,
           .frame_owner = 70,
           .code_instructions = 192,
           .code_name = 128,
           .code_file = 112,
           .code_first_line = 68,
           .code_lines = 136},
    Layout{.minor = 13},
};

/// A field of a layout that the interpreter describes. `place`: in struct _Py_DebugOffsets of 3.13, in bytes.
struct Described {
    std::uint16_t Layout::* field;
    std::uint16_t place;
};
constexpr std::array kDescribed{
    Described{&Layout::runtime_interpreters, 40}, Described{&Layout::interpreter_next, 64},
    Described{&Layout::interpreter_threads, 72},  Described{&Layout::thread_next, 168},
    Described{&Layout::thread_frame, 184},        Described{&Layout::thread_id, 192},
    Described{&Layout::frame_previous, 232},      Described{&Layout::frame_code, 240},
    Described{&Layout::frame_instruction, 248},   Described{&Layout::frame_owner, 264},
    Described{&Layout::code_file, 280},           Described{&Layout::code_name, 296},
    Described{&Layout::code_lines, 304},          Described{&Layout::code_first_line, 312},
    Described{&Layout::code_instructions, 344},
};

/// Fills in what the interpreter says. False if it says nothing that can be used.
bool read_described(const Memory& memory, std::uint64_t runtime, Layout& layout) {
    constexpr std::uint64_t kCookie = 0x7970677562656478;  // "xdebugpy"
    constexpr std::uint64_t kFreeThreaded = 16;            // place of free_threaded
    if (memory.word(runtime) != kCookie || memory.word(runtime + kFreeThreaded) != 0) return false;
    for (const Described& row : kDescribed) {
        const auto offset = memory.value<std::uint64_t>(runtime + row.place);
        if (!offset || *offset >= kAbsent) return false;
        layout.*row.field = static_cast<std::uint16_t>(*offset);
    }
    return frame_bytes(layout) <= kMostFrameBytes;
}

}  // namespace

std::size_t frame_bytes(const Layout& layout) {
    std::size_t end = 0;
    for (const std::uint16_t field : {layout.frame_previous, layout.frame_code, layout.frame_instruction})
        end = std::max<std::size_t>(end, field + sizeof(std::uint64_t));
    for (const std::uint16_t field : {layout.frame_is_entry, layout.frame_owner})
        if (field != kAbsent) end = std::max<std::size_t>(end, field + std::size_t{1});
    return end;
}

std::optional<Layout> layout_of(const Memory& memory, std::uint16_t minor, std::uint64_t runtime) {
    const auto row = std::ranges::find(kLayouts, minor, &Layout::minor);
    if (row == kLayouts.end()) return std::nullopt;
    Layout layout = *row;
    constexpr std::uint16_t kFirstDescribed = 13;
    if (minor >= kFirstDescribed && !read_described(memory, runtime, layout)) return std::nullopt;
    return layout;
}

}  // namespace anyperf::python
