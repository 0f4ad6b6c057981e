#include "symbols/demangle.h"

#include <gtest/gtest.h>

namespace anyperf::symbols {
namespace {

struct Case {
    std::string_view mangled, shown;
};

class Demangle : public testing::TestWithParam<Case> {};

// The right side is what perf 6.1 prints, which is c++filt -p.
TEST_P(Demangle, GivesTheNameWithoutParametersAndReturnType) {
    EXPECT_EQ(demangle(GetParam().mangled), GetParam().shown);
}

INSTANTIATE_TEST_SUITE_P(
    Names, Demangle,
    testing::Values(Case{"main", "main"}, Case{"_ZN2ns1fEi", "ns::f"}, Case{"_ZNK2ns1A1gEv", "ns::A::g"},
                    Case{"_ZN2ns3hotIlEET_S1_", "ns::hot<long>"}, Case{"_ZnwmSt11align_val_t", "operator new"},
                    Case{"_ZNK2ns1AclEl", "ns::A::operator()"},
                    Case{"_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
                         "std::operator<< <std::char_traits<char> >"},
                    Case{"_ZN12_GLOBAL__N_13oneEv", "(anonymous namespace)::one"}, Case{"_ZN2ns1fEi.part.0", "ns::f"},
                    Case{"_Znwm@plt", "operator new@plt"},
                    Case{"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()"},
                    Case{"_ZThn16_N2ns1B1fEi", "non-virtual thunk to ns::B::f(int)"}, Case{"_Zx", "_Zx"}));

}  // namespace
}  // namespace anyperf::symbols
