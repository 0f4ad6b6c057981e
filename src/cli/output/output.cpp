#include "cli/output/output.h"

namespace anyperf::cli {

void Output::print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), results_);
}

void Output::note(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), notes_);
}

bool Output::notes_failed() const {
    return std::fflush(notes_) != 0 || std::ferror(notes_) != 0;
}

}  // namespace anyperf::cli
