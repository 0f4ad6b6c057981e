// fuzz_elf.cpp: an ELF file: its symbols, and its call frame information with an unwinding step at every row.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "symbols/elf_image.h"
#include "symbols/elf_symbols.h"
#include "unwind/cfi.h"
#include "unwind/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace anyperf;
    const auto* bytes = reinterpret_cast<const std::byte*>(data);
    const auto image = symbols::ElfImage::of({bytes, bytes + size});
    if (!image) return 0;
    symbols::elf_symbols(*image, *image);
    const unwind::UnwindTable table{*image};
    const std::vector<std::byte> stack(256, std::byte{1});
    for (const unwind::UnwindRow& row : table.rows()) {
        table.find(row.address);
        if (row.cfa == unwind::UnwindRow::Cfa::expression)
            unwind::evaluate(table.expression(row.cfa_offset), {row.address, 0x7000, 0x7010}, {0x7000, stack});
        if (row.rbp == unwind::UnwindRow::Rbp::expression)
            unwind::evaluate(table.expression(row.rbp_offset), {row.address, 0x7000, 0x7010}, {0x7000, stack}, 0x7020);
    }
    return 0;
}
