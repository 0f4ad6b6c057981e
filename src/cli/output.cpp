// output.cpp: see output.h.
#include "cli/output.h"

namespace anyperf::cli {

void Output::print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), results_);
}

void Output::note(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), notes_);
}

}  // namespace anyperf::cli
