// main.cpp: engine_decode_generate FILE: describes every opcode of every space by Zydis and writes the decoder's tables
// as C++ to FILE. A tool of the build, some ten million decodings.
//
// For each opcode of each space, each combination of prefix bits and ModRM is a cell (tables.h); its form comes from
// form_of(), which asks Zydis. Where ModRM.rm cannot select an instruction, one cell is asked and its neighbours are
// copies. Zydis may be older than the CPU: in spaces in which all instructions have the same layout, an opcode that it
// does not know gets a form that claims nothing but its length.
#include <algorithm>
#include <array>
#include <cstdio>

#include <fstream>
#include <vector>

#include "engine/x86_64/decode/classes.h"
#include "engine/x86_64/decode/isa.h"
#include "engine/x86_64/generate/constraints.h"
#include "engine/x86_64/generate/tables.h"
#include "engine/x86_64/generate/timings.h"

namespace anyperf::engine::x86_64::generate {
namespace {

/// The form of an instruction that Zydis does not know, in a uniform space: its length is known all the same, so that
/// its copy runs on a CPU that has it.
Form unknown_form(Space space) {
    Form form;
    form.touched = form.read = form.written = 0xffff;
    form.flags_read = kStatusFlags;
    form.attributes = attribute::kModrm | attribute::kReadsOperand | attribute::kWritesOperand |
                      attribute::kSegmentOperand | attribute::kUnknown;
    // Map 3 is the map with an imm8.
    const bool immediate = space == Space::map_0f3a || space == Space::vex_3 || space == Space::evex_3;
    form.immediate_bytes = immediate ? 1 : 0;
    form.classes = static_cast<std::uint16_t>(bit(Class::instructions));
    form.attributes |= std::uint32_t{is_evex(space) ? isa::kWideVectors : isa::kOther} << attribute::kIsaShift;
    if (!is_legacy(space)) form.classes |= static_cast<std::uint16_t>(bit(Class::vector));
    return form;
}

/// A form for memory only (lea) that also takes the cells of registers: no value of rm's high bits is allowed there.
std::optional<Form> without_register(Form form) {
    form.rm_high = 0;
    form.attributes |= attribute::kConstrained;
    return form;
}

/// Spaces in which every opcode has ModRM and the same size of immediate (SDM volume 2, appendix A).
bool is_uniform(Space space) {
    switch (space) {
        case Space::map_0f38:
        case Space::map_0f3a:
        case Space::vex_2:
        case Space::vex_3:
        case Space::evex_2:
        case Space::evex_3:
        case Space::evex_5:
        case Space::evex_6: return true;
        default: return false;
    }
}

/// All forms of one opcode: a cell for each value of the selector, with the reference of a form.
class Opcode {
  public:
    Opcode(Tables& tables, Space space, std::uint8_t opcode)
        : tables_(tables),
          space_(space),
          opcode_(opcode),
          cells_(1u << (is_evex(space) ? selector::kEvexBits : selector::kBits)) {
        const std::uint16_t otherwise = is_uniform(space) ? tables_.add(unknown_form(space)) : 0;
        for (std::size_t prefixes = 0; prefixes < cells_.size(); prefixes += 128) fill(prefixes, otherwise);
    }

    std::span<const std::uint16_t> cells() const { return cells_; }

  private:
    std::uint16_t reference(std::size_t s, std::uint16_t otherwise) {
        const auto form = form_of(space_, opcode_, static_cast<std::uint16_t>(s));
        has_modrm_ = !form || form->attributes & attribute::kModrm;
        return form ? tables_.add(*form) : otherwise;
    }

    /// Fills the cells of all ModRM values for one value of the prefix bits.
    void fill(std::size_t prefixes, std::uint16_t otherwise) {
        // The selector holds the last of F2 and F3, so that 3 does not occur: these cells repeat their neighbours.
        if (is_legacy(space_) && bits(static_cast<std::uint16_t>(prefixes), selector::kRepeat, 2) == 3) {
            std::copy_n(cells_.begin() + static_cast<std::ptrdiff_t>(prefixes - (1u << selector::kRepeat)), 128,
                        cells_.begin() + static_cast<std::ptrdiff_t>(prefixes));
            return;
        }
        const std::uint16_t first = reference(prefixes, otherwise);
        if (!has_modrm_) return fill_range(prefixes, 128, first);
        for (unsigned reg = 0; reg < 8; ++reg) {
            const std::size_t memory = prefixes | reg << selector::kReg;
            fill_range(memory, 8, reference(memory, otherwise));
            const std::size_t registers = memory | 1u << selector::kIsReg;
            if (is_evex(space_)) {  // rm selects no instruction in EVEX
                fill_range(registers, 8, reference(registers, otherwise));
                continue;
            }
            for (unsigned rm = 0; rm < 8; ++rm) cells_[registers | rm] = reference(registers | rm, otherwise);
        }
        merge(prefixes);
    }

    /// Merges the memory and register forms of all ModRM values, if all of them can be. Otherwise the tree has to test
    /// ModRM.mod anyway, and nothing is gained by merging some.
    void merge(std::size_t prefixes) {
        std::array<std::uint16_t, 64> both{};
        for (std::size_t n = 0; n < both.size(); ++n) {
            const std::uint16_t memory = cells_[prefixes | n];
            const std::uint16_t registers = cells_[prefixes | n | 1u << selector::kIsReg];
            if (memory == 0 && registers == 0) continue;
            if (memory == 0) return;
            const auto form = registers ? merged(tables_.form(memory), tables_.form(registers))
                                        : without_register(tables_.form(memory));
            if (!form) return;
            both[n] = tables_.add(*form);
        }
        std::ranges::copy(both, cells_.begin() + static_cast<std::ptrdiff_t>(prefixes));
        std::ranges::copy(both, cells_.begin() + static_cast<std::ptrdiff_t>(prefixes | 1u << selector::kIsReg));
    }

    void fill_range(std::size_t from, std::size_t count, std::uint16_t value) {
        std::fill_n(cells_.begin() + static_cast<std::ptrdiff_t>(from), count, value);
    }

    Tables& tables_;
    Space space_;
    std::uint8_t opcode_;
    std::vector<std::uint16_t> cells_;
    bool has_modrm_ = true;
};

bool is_prefix_or_escape(Space space, unsigned opcode) {
    if (space == Space::map_0f) return opcode == 0x38 || opcode == 0x3a || opcode == 0x0f;
    if (space != Space::one_byte) return false;
    switch (opcode) {
        case 0x0f:
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:
        case 0x66:
        case 0x67:
        case 0x62:
        case 0xc4:
        case 0xc5:
        case 0xf0:
        case 0xf2:
        case 0xf3: return true;
        default: return opcode >= 0x40 && opcode < 0x50;
    }
}

void fill_tables(Tables& tables) {
    for (unsigned s = 0; s < kSpaces; ++s)
        for (unsigned opcode = 0; opcode < 256; ++opcode) {
            const auto space = static_cast<Space>(s);
            if (is_prefix_or_escape(space, opcode)) continue;
            const auto byte = static_cast<std::uint8_t>(opcode);
            tables.set(space, byte, Opcode{tables, space, byte}.cells());
        }
    // 0F 0F: all 3DNow! instructions have the same layout; the suffix byte decides which one it is.
    // Any 3DNow! suffix that exists serves to describe them all.
    constexpr std::uint8_t pfadd = 0x9e;
    tables.set(Space::map_0f, 0x0f, Opcode{tables, Space::now, pfadd}.cells());
}

}  // namespace
}  // namespace anyperf::engine::x86_64::generate

int main(int count, char** arguments) {
    if (count != 2) {
        std::fputs("usage: engine_decode_generate FILE\n", stderr);
        return 2;
    }
    anyperf::engine::x86_64::generate::Tables tables;
    anyperf::engine::x86_64::generate::fill_tables(tables);
    std::ofstream out{arguments[1]};
    tables.write(out);
    anyperf::engine::x86_64::generate::write_timings(out);
    return out.flush() ? 0 : 1;
}
