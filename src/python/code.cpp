#include "python/code.h"

namespace anyperf::python {

namespace {

/// Whether the object's type has the name "code". So garbage that looks like a frame is not taken for one.
bool is_code(const Memory& memory, std::uint64_t object) {
    constexpr std::uint64_t kName = 0x65646f63;  // "code", and the NUL in the fifth byte
    constexpr std::uint64_t kFiveBytes = 0xff'ffff'ffff;
    const std::uint64_t type = memory.word(object + kObjectType);
    return type != 0 && (memory.word(memory.word(type + kTypeName)) & kFiveBytes) == kName;
}

}  // namespace

bool read_code(const Memory& memory, const Layout& layout, std::uint64_t address, Code& out) {
    if (address == 0 || !is_code(memory, address)) return false;
    const auto first = memory.value<std::int32_t>(address + layout.code_first_line);
    if (!first) return false;
    out.first_line = *first;
    out.lines = memory.word(address + layout.code_lines);
    read_text(memory, layout, memory.word(address + layout.code_name), out.name);
    read_text(memory, layout, memory.word(address + layout.code_file), out.file);
    return out.name.size != 0;
}

}  // namespace anyperf::python
