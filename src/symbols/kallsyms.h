// kallsyms.h: the kernel's symbols and those of its modules.
#pragma once

#include <string>

#include "anyperf/error.h"
#include "symbols/symbol_table.h"

namespace anyperf::symbols {

/// Reads a file in the format of /proc/kallsyms. Fails if it can't be read, or if it hides the addresses.
Result<SymbolTable> read_kallsyms(const std::string& path);

/// The symbols of the running kernel, read when they are first asked for.
class KernelSymbols {
  public:
    /// Null if they can't be read; why() then says what was found.
    const SymbolTable* table(const std::string& path);
    const std::string& why() const { return why_; }

  private:
    bool read_ = false;
    SymbolTable table_;
    std::string why_;
};

/// The build id in the kernel's ELF notes (/sys/kernel/notes), hexadecimal; empty if the file has none.
std::string kernel_build_id(const std::string& notes_path);

}  // namespace anyperf::symbols
