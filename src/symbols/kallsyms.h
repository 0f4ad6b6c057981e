// kallsyms.h: the kernel's symbols and those of its modules.
//
// /proc/kallsyms has a line for each, without sizes: a symbol ends where the next begins. To users without rights the
// kernel shows all addresses as 0 (kallsyms_show_value(): by kernel.kptr_restrict and kernel.perf_event_paranoid), so a
// file of zeros is the normal case and has a message of its own.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "anyperf/error.h"
#include "symbols/symbol_table.h"

namespace anyperf::symbols {

/// Reads a file in the format of /proc/kallsyms. Fails if it can't be read, or if it hides the addresses.
Result<SymbolTable> read_kallsyms(const std::string& path);

/// The same of a text. The table is empty if no address can be read.
SymbolTable kallsyms_of(std::string_view text);

/// The symbols of the running kernel, or those that a recording has of its own. The former are read when they are first
/// asked for: some 200,000 lines, which most reports do not need.
class KernelSymbols {
  public:
    /// The symbols; null if they can't be read, and why() then says what was found. Only the first call reads `path`.
    const SymbolTable* table(const std::string& path);
    const std::string& why() const { return why_; }

    /// From now on these are the symbols, instead of the running kernel's.
    void use(SymbolTable table) {
        recorded_ = read_ = true;
        table_ = std::move(table);
    }
    bool are_recorded() const { return recorded_; }

  private:
    bool read_ = false, recorded_ = false;
    SymbolTable table_;
    std::string why_;
};

/// The build id in the kernel's ELF notes (/sys/kernel/notes), hexadecimal; empty if the file has none.
std::string kernel_build_id(const std::string& notes_path);

}  // namespace anyperf::symbols
