// translate.cpp: see translate.h.
#include "engine/x86_64/translate.h"

namespace anyperf::engine::x86_64 {

void Translation::mark(std::size_t index, std::uint8_t spilled) {
    Mark& here = block_->marks[index];
    here.host = static_cast<std::uint16_t>(hot_.at() - block_->host);
    here.guest_length = index < decoded_.count ? decoded_.instructions[index].length : 0;
    here.spilled = spilled;
    here.classes = index < decoded_.count ? counted_at_start(decoded_.instructions[index]) : ClassSet{0};
}

/// Decodes, and takes the records of the block.
bool Translation::begin(std::uint64_t pc, std::size_t limit) {
    alone_ = limit == kAlone;
    decode_block(cache_.executable, pc, alone_ ? 1 : limit, decoded_);
    if (!alone_) stop_before_watched();
    id_ = cache_.blocks.take();
    const std::uint32_t marks = cache_.marks.take(static_cast<std::uint32_t>(decoded_.count + 1));
    if (id_ == 0 || marks == 0) return false;
    block_ = &cache_.blocks[id_];
    *block_ = {};
    block_->pc = pc;
    block_->host = hot_.at();
    block_->marks = &cache_.marks[marks];
    block_->instructions = static_cast<std::uint16_t>(decoded_.count);
    block_->guest_bytes = static_cast<std::uint16_t>(decoded_.end - pc);
    return true;
}

void Translation::emit_instructions() {
    std::uint64_t address = decoded_.pc;
    for (std::size_t i = 0; i < decoded_.count; ++i) {
        const Instruction& instruction = decoded_.instructions[i];
        spilled_ = Mark::kNone;
        mark(i, Mark::kNone);
        if (!alone_) emit_question(instruction, address);
        if (instruction.control == Control::none)
            emit_plain(instruction, address);
        else
            emit_end(instruction, address);
        block_->marks[i].spilled = spilled_;
        address += instruction.length;
    }
    mark(decoded_.count, Mark::kNone);
    if (decoded_.count == 0)
        emit_step(Instruction{.control = Control::interrupt}, decoded_.pc);
    else if (!decoded_.ends_in_control())
        emit_jump_to(address);
}

Block* Translation::run(std::uint64_t pc, std::size_t limit) {
    if (!begin(pc, limit)) return nullptr;
    if (!alone_ && watched_.holds(pc)) {
        emit_watched_start();
    } else {
        emit_prologue();
        emit_instructions();
    }
    if (hot_.overflowed() || cold_.overflowed() || out_of_records_) return nullptr;
    block_->host_bytes = static_cast<std::uint32_t>(hot_.at() - block_->host);
    arena_.commit(hot_, cold_, id_);
    return block_;
}

}  // namespace anyperf::engine::x86_64
