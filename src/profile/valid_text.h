// valid_text.h: what a name becomes that is no text. Names of functions, files and threads may be any bytes but 0: a
// symbol table, a path and prctl(PR_SET_NAME) do not say which encoding they have. The formats of `export` are text in
// UTF-8, and their readers refuse a whole file for one bad byte: protobuf.dev, "Scalar Value Types"; RFC 8259, section
// 8.1; XML 1.0, section 2.2, for the pictures that are made of folded stacks.
//
// So a profile that is handed on is made valid once, before any format is written. Reports print names as they are, as
// perf does.
#pragma once

#include <string>
#include <string_view>

#include "profile/profile.h"

namespace anyperf::profile {

/// The text in UTF-8 with U+FFFD in place of what is no character: of bytes that are no UTF-8, for each longest
/// beginning of a character (The Unicode Standard 15, section 3.9, "U+FFFD Substitution of Maximal Subparts"), and of
/// control characters other than tab and line ends.
std::string valid_text(std::string_view text);

/// Makes all texts of the profile valid. Different names may become equal; they keep their ids.
void make_texts_valid(Profile& profile);

}  // namespace anyperf::profile
