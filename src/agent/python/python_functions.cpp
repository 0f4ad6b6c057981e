#include "agent/python/python_functions.h"

#include <sys/mman.h>

#include <algorithm>
#include <string_view>

#include "agent/broker_request.h"
#include "engine/freestanding/pages.h"
#include "engine/syscalls/application_maps.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "python/function_range.h"
#include "python/lines.h"

namespace anyperf::agent {

using engine::LockGuard;
using engine::Thread;

namespace {

using Name = python::Text<python::kLongestName + python::kLongestFile + 16>;

/// The process's state, which the first call makes; null if memory is short.
PythonCode* python_code(Process& process) {
    PythonCode* known = __atomic_load_n(&process.python, __ATOMIC_ACQUIRE);
    if (known != nullptr) return known;
    constexpr std::uint64_t kBytes = engine::page_up(sizeof(PythonCode));
    // Its members begin as zeros, so that only the pages that are used cost memory.
    auto* const made = static_cast<PythonCode*>(engine::reserve_pages(kBytes));
    if (made == nullptr) return nullptr;
    made->maps_have_changed = true;
    if (__atomic_compare_exchange_n(&process.python, &known, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    engine::release_pages(made, kBytes);  // another thread was faster
    return known;
}

/// Looks for the interpreter in a file that is mapped from its beginning.
void look_in(void* context, const engine::ApplicationMapping& mapping) {
    auto& code = *static_cast<PythonCode*>(context);
    if (code.is_found || mapping.inode == 0 || mapping.offset != 0 || (mapping.protection & PROT_READ) == 0) return;
    const auto found = python::find_runtime(application_memory(), mapping.start);
    if (!found) return;
    code.runtime = *found;
    code.is_found = true;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e37'79b9'7f4a'7c15u;
    return hash ^ hash >> 32;
}

std::uint64_t hash_of(const python::Code& code) {
    std::uint64_t hash = mix(1, static_cast<std::uint32_t>(code.first_line));
    for (const std::string_view text : {code.name.view(), code.file.view()}) {
        hash = mix(hash, text.size());
        std::size_t i = 0;
        for (; i + sizeof(std::uint64_t) <= text.size(); i += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            __builtin_memcpy(&word, text.data() + i, sizeof word);
            hash = mix(hash, word);
        }
        for (; i < text.size(); ++i) hash = mix(hash, static_cast<unsigned char>(text[i]));
    }
    return hash | 1;  // 0 is a free place
}

/// The function's place in the table, which it gets here if it is new. Null if there is no room. The caller holds the
/// lock.
PythonCode::Function* place_of(PythonCode& code, std::uint64_t hash) {
    for (std::uint64_t i = hash; code.count < kMostPythonFunctions; ++i) {
        PythonCode::Function& place = code.functions[i / 2 % PythonCode::kPlaces];
        if (place.hash == hash) return &place;
        if (place.hash != 0) continue;
        place = {.hash = hash, .number = code.count++};
        return &place;
    }
    return nullptr;
}

/// Control characters become '?': a program may give any name, and reports print it to terminals.
void append(Name& name, std::string_view text) {
    const std::size_t fits = std::min(text.size(), name.bytes.size() - name.size);
    std::ranges::transform(text.substr(0, fits), name.bytes.data() + name.size,
                           [](char each) { return (each >= 0 && each < ' ') || each == 0x7f ? '?' : each; });
    name.size += fits;
}

/// Has the broker write the record that names the function's range. Another thread may do so at the same time; the
/// second record changes nothing.
void report(Thread& thread, std::uint32_t number, const python::Code& code) {
    Name name;
    append(name, python::kRangePrefix);
    append(name, code.name.view());
    append(name, ":");
    append(name, code.file.view());
    append(name, python::kRangeSuffix);
    BrokerRequest{thread, run::RequestKind::mapped}
        .argument(0, python::range_start(number))
        .argument(1, python::kRangeBytes)
        .argument(2, PROT_READ | PROT_EXEC)
        .argument(3, MAP_PRIVATE)
        .argument(4, static_cast<std::uint64_t>(run::MappingName::given))
        .argument(5, static_cast<std::uint32_t>(std::max(code.first_line, 0)))
        .payload(name.bytes.data(), name.size)
        .send();
}

/// The line of the frame, from the table of lines or from `code`'s lines that were found before. The caller holds the
/// lock.
std::int64_t line_of(PythonCode& known, const python::Frame& frame, const python::Code& code, std::uint32_t number) {
    const auto at = static_cast<std::size_t>(mix(frame.code, static_cast<std::uint64_t>(frame.offset)));
    PythonCode::Line& line = known.lines[at % known.lines.size()];
    if (line.code == frame.code && line.offset == frame.offset && line.table == code.lines && line.number == number)
        return line.line;
    const std::int64_t found = python::line_at(application_memory(), known.runtime.layout.line_table, code.lines,
                                               frame.offset, code.first_line);
    line = {frame.code, code.lines, frame.offset, number, static_cast<std::int32_t>(found)};
    return found;
}

}  // namespace

python::Memory application_memory() {
    return {nullptr, [](void*, void* to, std::uint64_t from, std::size_t bytes) {
                return engine::x86_64::guarded_copy(to, engine::at_address<const void>(from), bytes);
            }};
}

bool may_run_python(const Thread& thread) {
    const PythonCode* const code = __atomic_load_n(&existing_process(*thread.engine)->python, __ATOMIC_ACQUIRE);
    return code == nullptr || code->is_found || __atomic_load_n(&code->maps_have_changed, __ATOMIC_RELAXED);
}

const python::Runtime* find_python(Thread& thread) {
    PythonCode* const code = python_code(*existing_process(*thread.engine));
    if (code == nullptr) return nullptr;
    const LockGuard held{code->lock};
    if (!code->is_found && code->maps_have_changed) {
        code->maps_have_changed = false;
        engine::for_each_mapping(look_in, code);
    }
    return code->is_found ? &code->runtime : nullptr;
}

std::uint64_t address_of_frame(Thread& thread, const python::Frame& frame) {
    PythonCode& known = *existing_process(*thread.engine)->python;
    python::Code code;
    if (!python::read_code(application_memory(), known.runtime.layout, frame.code, code)) return 0;
    std::uint32_t number = 0;
    std::int64_t line = 0;
    PythonCode::Function* place = nullptr;
    {
        const LockGuard held{known.lock};
        place = place_of(known, hash_of(code));
        if (place == nullptr) return 0;
        number = place->number;
        line = line_of(known, frame, code, number);
    }
    if (!__atomic_load_n(&place->is_reported, __ATOMIC_ACQUIRE)) {
        report(thread, number, code);
        __atomic_store_n(&place->is_reported, true, __ATOMIC_RELEASE);
    }
    return python::frame_address(number, line, code.first_line);
}

void note_mapped_code(Process& process) {
    PythonCode* const code = __atomic_load_n(&process.python, __ATOMIC_ACQUIRE);
    if (code != nullptr) __atomic_store_n(&code->maps_have_changed, true, __ATOMIC_RELAXED);
}

void keep_python_code(Process& process) {
    if (process.python != nullptr) process.python->lock.reset();
}

}  // namespace anyperf::agent
