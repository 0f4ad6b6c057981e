// interpreter_frames.cpp: which file is an interpreter follows from the stack. The innermost callee of a Python
// function is the C function that runs it (agent/python/python_frames.h).
#include "analysis/interpreter_frames.h"

#include <algorithm>

namespace anyperf::analysis {

namespace {

/// The dso of a frame of user mode; null if no map has it.
const symbols::Dso* dso_of(const symbols::AddressSpace& maps, const RawFrame& frame) {
    const symbols::Map* map = frame.mode == RawFrame::user ? maps.find(frame.address) : nullptr;
    return map ? map->dso : nullptr;
}

bool is_script(const symbols::Dso* dso) {
    return dso && dso->kind() == symbols::DsoKind::script;
}

}  // namespace

void remove_interpreter(const Processes& processes, SpaceId space, std::vector<RawFrame>& frames) {
    const symbols::AddressSpace& maps = processes[space];
    std::vector<const symbols::Dso*> interpreters;
    const symbols::Dso* callee = nullptr;
    for (const RawFrame& frame : frames) {
        const symbols::Dso* dso = dso_of(maps, frame);
        if (is_script(dso) && callee && !is_script(callee)) interpreters.push_back(callee);
        callee = dso;
    }
    if (interpreters.empty()) return;
    std::erase_if(frames, [&](const RawFrame& frame) {
        const symbols::Dso* dso = dso_of(maps, frame);
        return dso && std::ranges::find(interpreters, dso) != interpreters.end();
    });
}

}  // namespace anyperf::analysis
