// notes.cpp: counts instructions that were counted with their segment and did not run, and those that ran in none.
#include "engine/exact/area.h"
#include "engine/exact/exact.h"

namespace anyperf::engine {

using run::exact::Record;
using run::exact::RecordKind;

void note_segment_left(Thread& thread, std::uint32_t cell, std::size_t index) {
    if (cell == 0) return;
    Record record{};
    record.kind = RecordKind::left;
    record.of = cell;
    record.index = static_cast<std::uint8_t>(index);
    add_to_cell(thread, thread.engine->exact.cell_for(record));
}

namespace {

void note_instruction(Thread& thread, std::uint64_t pc, RecordKind kind) {
    if (!thread.engine->exact.on()) return;
    Record record{};
    record.kind = kind;
    record.pc = pc;
    add_to_cell(thread, thread.engine->exact.cell_for(record, thread.engine->exact.epoch));
}

}  // namespace

void note_instruction_ran(Thread& thread, std::uint64_t pc) {
    note_instruction(thread, pc, RecordKind::instruction);
}

void note_instruction_undone(Thread& thread, std::uint64_t pc) {
    note_instruction(thread, pc, RecordKind::undone);
}

}  // namespace anyperf::engine
