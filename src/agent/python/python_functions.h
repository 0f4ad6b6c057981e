// python_functions.h: the Python functions of a process. Each gets a number when a sample first shows it, and the
// broker is told its name: a range of addresses that is mapped to the function (python/function_range.h).
//
// A function is known by its name, its file and its first line, not by the address of its code object: the interpreter
// frees code objects and uses their memory again.
#pragma once

#include <array>
#include <cstdint>

#include "agent/process.h"
#include "engine/freestanding/lock.h"
#include "python/code.h"
#include "python/frames.h"
#include "python/runtime.h"

namespace anyperf::agent {

inline constexpr std::uint32_t kMostPythonFunctions = 32768;  ///< of a process; of further ones no frames are shown

/// What the agent knows of the Python program that a process runs.
struct PythonCode {
    struct Function {
        std::uint64_t hash = 0;  ///< of name, file and first line; 0: a free place
        std::uint32_t number = 0;
        bool is_reported = false;  ///< the broker knows the name
    };
    /// A line that was found, since finding it takes long in long functions.
    struct Line {
        std::uint64_t code = 0;
        std::uint64_t table = 0;
        std::int64_t offset = 0;
        std::uint32_t number = 0;
        std::int32_t line = 0;
    };
    static constexpr std::uint32_t kPlaces = 2 * kMostPythonFunctions;

    engine::Lock lock;              ///< of all that follows
    bool maps_have_changed = true;  ///< files were mapped since the interpreter was sought
    bool is_found = false;          ///< the interpreter
    python::Runtime runtime;
    std::uint32_t count = 0;  ///< of functions
    std::array<Line, 1024> lines;
    std::array<Function, kPlaces> functions;  ///< by hash
};

/// Whether the thread's process may have an interpreter: one was found, or was not sought since code was mapped.
bool may_run_python(const engine::Thread& thread);

/// The interpreter of the thread's process; null if there is none, or none that is known.
const python::Runtime* find_python(engine::Thread& thread);

/// The address that call chains have for the frame; 0 if it is not a frame of a function. The first frame of a function
/// sends a request to the broker. So no lock may be held.
std::uint64_t address_of_frame(engine::Thread& thread, const python::Frame& frame);

/// A file was mapped as code: it may be the interpreter.
void note_mapped_code(Process& process);

/// In a fork's child, which has a copy of everything.
void keep_python_code(Process& process);

/// Memory of the application.
python::Memory application_memory();

}  // namespace anyperf::agent
