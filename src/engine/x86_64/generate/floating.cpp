// floating.cpp: decides the class "floating-point" by mnemonic. Zydis's categories follow the extensions (AVX, SSE,
// AVX512), so they do not distinguish addps from movaps; the names do.
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

}  // namespace

bool is_floating_point(const ZydisDecodedInstruction& instruction) {
    if (instruction.meta.isa_ext == ZYDIS_ISA_EXT_X87) return true;
    if (instruction.meta.category == ZYDIS_CATEGORY_STRINGOP) return false;  // cmpsd is a string instruction too
    std::string_view name = ZydisMnemonicGetString(instruction.mnemonic);
    if (name.starts_with('v')) name.remove_prefix(1);
    return is_operation(name) ||
           std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace anyperf::engine::x86_64::generate
