// layout.h: where CPython keeps its threads, frames and code objects, by version. These structures are no interface:
// each minor version has its own, which its patch releases keep. From 3.13 on the interpreter describes them itself
// (_Py_DebugOffsets at the beginning of _PyRuntime), so a row of the table is only what that description lacks.
//
// Freestanding.
#pragma once

#include <cstdint>
#include <optional>

#include "python/memory.h"

namespace anyperf::python {

inline constexpr std::uint16_t kAbsent = 0xffff;  ///< the version does not have the field

/// How the table of lines of a code object is written.
enum class LineTable : std::uint8_t {
    deltas,     ///< 3.8, 3.9: co_lnotab (Objects/lnotab_notes.txt of CPython 3.9)
    ranges,     ///< 3.10: co_linetable (Objects/lnotab_notes.txt of CPython 3.10)
    locations,  ///< from 3.11 on: co_linetable (Objects/locations.md of CPython 3.11)
};

/// Offsets in bytes, within the structure that the name begins with.
struct Layout {
    std::uint16_t minor = 0;  ///< 11 of Python 3.11
    LineTable line_table = LineTable::locations;

    std::uint16_t runtime_interpreters = 0;  ///< _PyRuntimeState::interpreters.head
    std::uint16_t interpreter_next = 0;
    std::uint16_t interpreter_threads = 0;  ///< PyInterpreterState::threads.head, tstate_head
    std::uint16_t thread_next = 0;
    std::uint16_t thread_id = 0;  ///< what pthread_self(3) returns in the thread
    /// The innermost frame: PyThreadState::frame up to 3.10, current_frame from 3.13 on. In between it is the newest
    /// _PyCFrame, one on the C stack for each active call of _PyEval_EvalFrameDefault().
    std::uint16_t thread_frame = 0;
    std::uint16_t cframe_current = kAbsent;
    std::uint16_t cframe_previous = kAbsent;

    std::uint16_t frame_previous = 0;
    std::uint16_t frame_code = 0;
    /// A pointer to an instruction; up to 3.10 the index of one (f_lasti).
    std::uint16_t frame_instruction = 0;
    std::uint16_t frame_is_entry = kAbsent;  ///< 3.11: the outermost frame of its call of _PyEval_EvalFrameDefault()
    /// From 3.12 on, the outermost frame of such a call is not a function's: its owner is the C stack, where it is.
    std::uint16_t frame_owner = kAbsent;

    std::uint16_t code_instructions = kAbsent;  ///< absent: frame_instruction is an index
    std::uint16_t code_name = 0;                ///< co_qualname; up to 3.10 co_name
    std::uint16_t code_file = 0;
    std::uint16_t code_first_line = 0;
    std::uint16_t code_lines = 0;

    std::uint16_t ascii_bytes = 40;    ///< sizeof(PyASCIIObject)
    std::uint16_t compact_bytes = 56;  ///< sizeof(PyCompactUnicodeObject)
    std::uint16_t index_bytes = 1;     ///< bytes of code for each step of an index

    /// Whether each Python frame has a call of _PyEval_EvalFrameDefault() of its own, and no frame says where that is.
    bool has_separate_calls() const { return cframe_current == kAbsent && frame_owner == kAbsent; }
};

/// What all these versions have in common, for 64-bit machines.
inline constexpr std::uint16_t kObjectType = 8;    ///< PyObject::ob_type
inline constexpr std::uint16_t kTypeName = 24;     ///< PyTypeObject::tp_name
inline constexpr std::uint16_t kObjectSize = 16;   ///< PyVarObject::ob_size, PyASCIIObject::length
inline constexpr std::uint16_t kBytesData = 32;    ///< PyBytesObject::ob_sval
inline constexpr std::uint16_t kTextState = 32;    ///< PyASCIIObject::state
inline constexpr std::uint8_t kOwnedByCStack = 3;  ///< FRAME_OWNED_BY_CSTACK
/// Of a frame, from its start to the end of the last field that is read; at most kMostFrameBytes.
std::size_t frame_bytes(const Layout& layout);
inline constexpr std::size_t kMostFrameBytes = 128;

/// The layout of Python 3.`minor`; nothing for a version that is not known. `runtime` is the address of _PyRuntime.
std::optional<Layout> layout_of(const Memory& memory, std::uint16_t minor, std::uint64_t runtime);

}  // namespace anyperf::python
