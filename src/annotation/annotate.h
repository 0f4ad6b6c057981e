// annotate.h: the code of a function with the samples of each instruction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "annotation/disassembly.h"
#include "anyperf/error.h"
#include "profile/profile.h"
#include "symbols/dso.h"

namespace anyperf::annotation {

/// A number of samples and the sum of their weights: how often their event happened.
struct Heat {
    std::uint64_t samples = 0;
    std::uint64_t weight = 0;
};

/// An instruction with its samples and the source that it comes from, or a line of a script.
struct Line {
    Instruction instruction{};  ///< none of a script
    Heat heat{};
    std::string file{};      ///< empty: no line is known
    std::uint32_t line = 0;  ///< 0: no line is known
    std::string function;    ///< the innermost function: the annotated one, or one that was inlined into it
};

/// A function that has samples of an event.
struct HotFunction {
    profile::FunctionId function = profile::kNone<profile::FunctionId>;
    Heat heat;
};

/// The code of a function with its samples of one event.
struct Annotation {
    std::string name, path, build_id;  ///< `path` and `build_id` are those of the dso
    /// Addresses as in the symbol table, or lines of a script; `end` is the first one after the function.
    std::uint64_t begin = 0, end = 0;
    Heat heat;
    std::vector<Line> lines{};  ///< in the order of their addresses, or of the lines of a script
    Heat elsewhere{};           ///< samples at addresses where no instruction begins; usually none
    bool has_debug_info = false;
    bool is_script = false;  ///< an interpreted function: from its first line to the last one that has samples
};

/// The functions with samples of an event, the one with the largest weight first. Code without a symbol is left out.
std::vector<HotFunction> hot_functions(const profile::Profile& profile, profile::EventId event);

/// Finds the files of a profile's dsos and disassembles their code. Not for several threads.
class Annotator {
  public:
    Annotator(const symbols::SymbolPaths& paths, Syntax syntax) : dsos_(paths), syntax_(syntax) {}

    /// The code of a function, with the samples of the event. Error: the code is the kernel's or a JIT's; the file is
    /// missing, or has another build id than was recorded; the code is not for x86; the function has no code in the
    /// file, or more than 4 MiB.
    Result<Annotation> annotate(const profile::Profile& profile, profile::EventId event, const HotFunction& hot);

    /// Why no symbols of a dso were found, for people. Empty if there are some, and for every dso that is not a file or
    /// the vDSO.
    std::string why_no_symbols(const profile::Dso& dso, const profile::Profile& profile);

  private:
    symbols::Dso& find(const profile::Dso& dso, const profile::Profile& profile);
    void add_sources(symbols::Dso& dso, const std::string& name, Annotation& annotation);

    symbols::Dsos dsos_;
    Syntax syntax_;
};

}  // namespace anyperf::annotation
