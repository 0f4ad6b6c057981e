// printable.h: text from the machine (a thread's name, a file of sysfs) that is printed on a terminal or as a field.
#pragma once

#include <algorithm>
#include <string>

namespace anyperf::host {

/// The text with a '?' for each control character: such text may come from a program or a copied machine. Bytes above
/// 0x7f stay, since they may be UTF-8.
inline std::string printable(std::string text) {
    std::ranges::replace_if(text, [](unsigned char letter) { return letter < ' ' || letter == 0x7f; }, '?');
    return text;
}

}  // namespace anyperf::host
