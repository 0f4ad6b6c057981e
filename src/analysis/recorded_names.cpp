#include "analysis/recorded_names.h"

#include "symbols/kallsyms.h"

namespace anyperf::analysis {

namespace {

symbols::RecordedNames::Addresses addresses_of(perfdata::RecordedFile::Kind kind) {
    using Kind = perfdata::RecordedFile::Kind;
    using Addresses = symbols::RecordedNames::Addresses;
    if (kind == Kind::elf || kind == Kind::kernel_module) return Addresses::elf;
    return kind == Kind::dex ? Addresses::file_offset : Addresses::process;
}

}  // namespace

// A file without names gives none: the file itself may be at hand.
void use_recorded_names(const perfdata::Facts& facts, symbols::Dsos& dsos) {
    for (const perfdata::RecordedFile& file : facts.files) {
        if (file.symbols.empty()) continue;
        symbols::RecordedNames names{
            .table = {}, .addresses = addresses_of(file.kind), .lowest = file.address, .offset = file.offset};
        for (const perfdata::RecordedFile::Symbol& each : file.symbols)
            names.table.add(each.start, each.size, each.name, {});
        names.table.finish();
        dsos.use_recorded(file.path, std::move(names));
    }
    if (facts.kernel_symbols.empty()) return;
    symbols::SymbolTable kernel = symbols::kallsyms_of(facts.kernel_symbols);
    if (!kernel.empty()) dsos.use_kernel_symbols(std::move(kernel));
}

bool has_x86_registers(const perfdata::Facts& facts) {
    const std::string& arch = facts.arch;
    return arch.empty() || arch.starts_with("x86") || (arch.size() == 4 && arch.front() == 'i' && arch.ends_with("86"));
}

}  // namespace anyperf::analysis
