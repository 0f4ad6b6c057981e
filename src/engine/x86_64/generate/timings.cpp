#include "engine/x86_64/generate/timings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "engine/x86_64/decode/timing.h"

namespace anyperf::engine::x86_64::generate {
namespace {

/// A row of data/timing/skylake.tsv, which explains the columns.
struct TimingRow {
    std::string_view mnemonic;
    unsigned width;
    Timing timing;
};

constexpr Unit none = Unit::none;
[[maybe_unused]] constexpr Unit div = Unit::divide;
[[maybe_unused]] constexpr Unit div32 = Unit::divide32;
[[maybe_unused]] constexpr Unit div64 = Unit::divide64;
[[maybe_unused]] constexpr Unit mul = Unit::multiply;
[[maybe_unused]] constexpr Unit vec = Unit::vector;
[[maybe_unused]] constexpr Unit fadd = Unit::float_add;
[[maybe_unused]] constexpr Unit fmul = Unit::float_multiply;
[[maybe_unused]] constexpr Unit integer = Unit::integer;

std::uint16_t hundredths(double cycles) {
    return static_cast<std::uint16_t>(std::lround(cycles * 100));
}

const TimingRow kRows[] = {
#include "timing_rows.inc"
};

/// What has no row: an ordinary instruction of its kind.
constexpr Timing kOrdinary{.latency = 1, .unit = Unit::integer, .slots = 1, .occupancy = 50};
constexpr Timing kOrdinaryVector{.latency = 3, .unit = Unit::vector, .slots = 1, .occupancy = 100};
/// A register move is done by renaming.
constexpr Timing kMove{.latency = 0, .unit = none, .slots = 1, .occupancy = 25};

auto key(const Timing& timing) {
    return std::array<unsigned, 4>{timing.latency, static_cast<unsigned>(timing.unit), timing.slots, timing.occupancy};
}

/// The timings without duplicates.
class Timings {
  public:
    std::uint8_t number(const Timing& timing) {
        const auto [place, fresh] = numbers_.try_emplace(key(timing), static_cast<std::uint8_t>(all_.size()));
        if (fresh) all_.push_back(timing);
        if (all_.size() > 0xff) throw std::length_error("more timings than a byte can number");
        return place->second;
    }
    const std::vector<Timing>& all() const { return all_; }

  private:
    std::vector<Timing> all_;
    std::map<std::array<unsigned, 4>, std::uint8_t> numbers_;
};

Timings numbered_rows() {
    Timings timings;
    for (const Timing& timing : {kOrdinary, kOrdinaryVector, kMove}) timings.number(timing);
    for (const TimingRow& row : kRows) timings.number(row.timing);
    return timings;
}

Timings& timings() {
    static Timings numbered = numbered_rows();
    return numbered;
}

/// 512, 256 or 128 if an operand is a vector register, else 64 or 32.
unsigned width_of(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands) {
    unsigned width = 0;
    for (unsigned n = 0; n < instruction.operand_count; ++n) {
        if (operands[n].type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
        switch (ZydisRegisterGetClass(operands[n].reg.value)) {
            case ZYDIS_REGCLASS_XMM: width = std::max(width, 128u); break;
            case ZYDIS_REGCLASS_YMM: width = std::max(width, 256u); break;
            case ZYDIS_REGCLASS_ZMM: width = std::max(width, 512u); break;
            default: break;
        }
    }
    return width != 0 ? width : instruction.operand_width == 64 ? 64 : 32;
}

bool is_move_of_registers(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands) {
    switch (instruction.mnemonic) {
        case ZYDIS_MNEMONIC_MOV:
        case ZYDIS_MNEMONIC_MOVAPS:
        case ZYDIS_MNEMONIC_MOVAPD:
        case ZYDIS_MNEMONIC_MOVDQA:
        case ZYDIS_MNEMONIC_VMOVAPS:
        case ZYDIS_MNEMONIC_VMOVAPD:
        case ZYDIS_MNEMONIC_VMOVDQA: break;
        default: return false;
    }
    return instruction.operand_width >= 32 && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

}  // namespace

std::uint8_t timing_number(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands) {
    if (is_move_of_registers(instruction, operands)) return timings().number(kMove);
    const std::string_view name = ZydisMnemonicGetString(instruction.mnemonic);
    const unsigned width = width_of(instruction, operands);
    const TimingRow* any = nullptr;
    for (const TimingRow& row : kRows) {
        if (row.mnemonic != name) continue;
        if (row.width == width) return timings().number(row.timing);
        if (any == nullptr) any = &row;
    }
    if (any != nullptr) return timings().number(any->timing);
    return timings().number(width >= 128 || instruction.meta.isa_ext == ZYDIS_ISA_EXT_X87 ? kOrdinaryVector
                                                                                          : kOrdinary);
}

void write_timings(std::ostream& out) {
    out << "constexpr Timing kTimings[" << timings().all().size() << "] = {\n";
    for (const Timing& timing : timings().all())
        out << "    {" << unsigned{timing.latency} << ", static_cast<Unit>(" << static_cast<unsigned>(timing.unit)
            << "), " << unsigned{timing.slots} << ", " << timing.occupancy << "},\n";
    out << "};\n";
}

}  // namespace anyperf::engine::x86_64::generate
