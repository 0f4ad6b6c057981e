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

/// Samples, and how often the event happened between them.
struct Heat {
    std::uint64_t samples = 0;
    std::uint64_t weight = 0;
};

/// An instruction, and where it comes from.
struct Line {
    Instruction instruction;
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

struct Annotation {
    std::string name, path, build_id;
    std::uint64_t begin = 0, end = 0;  ///< addresses as in the symbol table
    Heat heat;
    std::vector<Line> lines{};
    Heat elsewhere{};  ///< of samples at addresses where no instruction begins; 0 as a rule
    bool has_debug_info = false;
};

/// The functions with samples of an event, the hottest first.
std::vector<HotFunction> hot_functions(const profile::Profile& profile, profile::EventId event);

class Annotator {
  public:
    Annotator(const symbols::SymbolPaths& paths, Syntax syntax) : dsos_(paths), syntax_(syntax) {}

    /// The code of a function, with the samples of the event. Error: its file is missing, is another one than was
    /// recorded, or has code that cannot be disassembled.
    Result<Annotation> annotate(const profile::Profile& profile, profile::EventId event, const HotFunction& hot);

    /// Why code of a dso has no names; empty if it has.
    std::string why_no_symbols(const profile::Dso& dso, const profile::Profile& profile);

  private:
    symbols::Dso& find(const profile::Dso& dso, const profile::Profile& profile);
    void add_sources(symbols::Dso& dso, const std::string& name, Annotation& annotation);

    symbols::Dsos dsos_;
    Syntax syntax_;
};

}  // namespace anyperf::annotation
