// floating.cpp: decides the class "floating-point", and the classes by width, by mnemonic. Zydis's categories follow
// the extensions (AVX, SSE, AVX512), so they do not distinguish addps from movaps; the names do.
#include <algorithm>
#include <array>
#include <string_view>

#include "engine/x86_64/generate/describe.h"

namespace anyperf::engine::x86_64::generate {
namespace {

using namespace std::string_view_literals;

/// Operations on float elements, without the v of AVX; the element type follows. Moves, shuffles, blends, broadcasts
/// and logic (andps) only carry bits and are not included.
constexpr std::array kOperations{
    "add"sv,    "addsub"sv,  "sub"sv,    "mul"sv,     "div"sv,     "sqrt"sv,    "rsqrt"sv,    "rcp"sv,
    "min"sv,    "max"sv,     "cmp"sv,    "comi"sv,    "ucomi"sv,   "hadd"sv,    "hsub"sv,     "dp"sv,
    "round"sv,  "reduce"sv,  "range"sv,  "getexp"sv,  "getmant"sv, "scalef"sv,  "fixupimm"sv, "rndscale"sv,
    "rcp14"sv,  "rsqrt14"sv, "rcp28"sv,  "rsqrt28"sv, "exp2"sv,    "fpclass"sv, "fmulc"sv,    "fcmulc"sv,
    "fmaddc"sv, "fcmaddc"sv, "dpbf16"sv, "tdpbf16"sv, "tdpfp16"sv,
};

/// Operations whose mnemonics are not an operation followed by an element type: fused multiply-add has the order of its
/// operands in between, conversions have two types, and 3DNow! has names of its own.
constexpr std::array kPrefixes{"fisttp"sv,  "fmadd"sv,  "fmsub"sv,   "fnmadd"sv, "fnmsub"sv, "cvt"sv,
                               "frcz"sv,    "4fmadd"sv, "4fnmadd"sv, "pfadd"sv,  "pfsub"sv,  "pfmul"sv,
                               "pfmin"sv,   "pfmax"sv,  "pfcmp"sv,   "pfrcp"sv,  "pfrsq"sv,  "pfacc"sv,
                               "pfpnacc"sv, "pfnacc"sv, "pf2i"sv,    "pi2f"sv};

constexpr std::array kElements{"ps"sv, "pd"sv, "ss"sv, "sd"sv, "ph"sv, "sh"sv};

/// Whether `name` is an operation and an element type.
bool is_operation(std::string_view name) {
    return std::ranges::any_of(kElements, [&](std::string_view element) {
        if (!name.ends_with(element)) return false;
        return std::ranges::find(kOperations, name.substr(0, name.size() - element.size())) != kOperations.end();
    });
}

/// What FP_ARITH_INST_RETIRED counts, as Intel's lists of events for Skylake describe it. Comparisons, conversions,
/// roundings and operations on half floats are not counted.
constexpr std::array kCounted{"add"sv, "addsub"sv, "sub"sv,  "mul"sv,  "div"sv, "sqrt"sv,  "rsqrt"sv,  "rcp"sv,
                              "min"sv, "max"sv,    "hadd"sv, "hsub"sv, "dp"sv,  "rcp14"sv, "rsqrt14"sv};
/// Of these, and of multiply-add, each element is two operations.
constexpr std::array kFused{"fmadd"sv, "fmsub"sv, "fnmadd"sv, "fnmsub"sv};

std::string_view name_of(const ZydisDecodedInstruction& instruction) {
    std::string_view name = ZydisMnemonicGetString(instruction.mnemonic);
    if (name.starts_with('v')) name.remove_prefix(1);
    return name;
}

/// The width of a packed instruction: 0 for 128 bits, 1 for 256, 2 for 512.
unsigned width_of(const ZydisDecodedInstruction& instruction) {
    return instruction.avx.vector_length == 512 ? 2 : instruction.avx.vector_length == 256 ? 1 : 0;
}

}  // namespace

std::optional<CountedByWidth> counted_by_width(const ZydisDecodedInstruction& instruction) {
    const std::string_view name = name_of(instruction);
    if (instruction.meta.category == ZYDIS_CATEGORY_STRINGOP || name.size() < 4) return {};
    const std::string_view operation = name.substr(0, name.size() - 2);
    const std::string_view element = name.substr(name.size() - 2);
    const bool single = element == "ss" || element == "ps";
    if (!single && element != "sd" && element != "pd") return {};
    const bool fused = std::ranges::any_of(kFused, [&](std::string_view one) { return operation.starts_with(one); });
    if (!fused && std::ranges::find(kCounted, operation) == kCounted.end()) return {};
    const unsigned pair = element.starts_with('s') ? 0 : 1 + width_of(instruction);
    return CountedByWidth{2 * pair + unsigned{single}, fused || operation == "dp"};
}

bool is_floating_point(const ZydisDecodedInstruction& instruction) {
    if (instruction.meta.isa_ext == ZYDIS_ISA_EXT_X87) return true;
    if (instruction.meta.category == ZYDIS_CATEGORY_STRINGOP) return false;  // cmpsd is a string instruction too
    const std::string_view name = name_of(instruction);
    return is_operation(name) ||
           std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace anyperf::engine::x86_64::generate
