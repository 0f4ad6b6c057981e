// fmt_functions.cpp: fmt's functions as a part of the command, instead of Debian's shared library (CMakeLists.txt). The
// header has those that are not templates. Of the templates, its other headers declare these as instantiated elsewhere.
#include <fmt/format-inl.h>

namespace fmt {

template auto detail::dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto detail::dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template void detail::buffer<char>::append(const char*, const char*);
template auto detail::thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto detail::decimal_point_impl<char>(locale_ref) -> char;
template void detail::vformat_to<char>(buffer<char>&, string_view, basic_format_args<buffer_context<char>>, locale_ref);

}  // namespace fmt
