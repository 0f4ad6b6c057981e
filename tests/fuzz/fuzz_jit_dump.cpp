// fuzz_jit_dump.cpp: a JIT's dump, jit-PID.dump.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "symbols/jit/jit_dump.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream file(std::string(reinterpret_cast<const char*>(data), size));
    const auto dump = anyperf::symbols::read_jit_dump(file, "jit-1.dump");
    if (!dump) return 0;
    for (const auto& code : dump->loaded) {
        dump->symbols.find(code.file_offset);
        dump->address_of(code.file_offset);
        const auto* const line = dump->line_at(code.file_offset + code.size - 1, code.file_offset);
        if (line != nullptr && line->file >= dump->files.size()) std::abort();
    }
    return 0;
}
