// kallsyms.h: the kernel's symbols and those of its modules.
//
// /proc/kallsyms has a line for each, without sizes: a symbol ends where the next begins. To users without rights the
// kernel shows all addresses as 0 (kallsyms_show_value(): by kernel.kptr_restrict and kernel.perf_event_paranoid), so a
// file of zeros is the normal case and has a message of its own.
#pragma once

#include <string>

#include "anyperf/error.h"
#include "symbols/symbol_table.h"

namespace anyperf::symbols {

/// Reads a file in the format of /proc/kallsyms. Fails if it can't be read, or if it hides the addresses.
Result<SymbolTable> read_kallsyms(const std::string& path);

/// The symbols of the running kernel, read when they are first asked for: some 200,000 lines, which most reports do not
/// need.
class KernelSymbols {
  public:
    /// The symbols; null if they can't be read, and why() then says what was found. Only the first call reads `path`.
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
