// translate.cpp: see translate.h.
#include "engine/x86_64/translate.h"
#include "engine/x86_64/landing.h"

namespace anyperf::engine::x86_64 {

void Translation::mark(std::size_t index, std::uint8_t spilled) {
    Mark& here = block_->marks[index];
    here.host = static_cast<std::uint16_t>(hot_.at() - block_->host);
    here.guest_length = index < decoded_.count ? decoded_.instructions[index].length : 0;
    here.spilled = spilled;
    here.classes = index < decoded_.count ? counted_at_start(decoded_.instructions[index]) : ClassSet{0};
}

/// Code that has its translation is not translated twice: the block ends before it.
void Translation::stop_before_translated() {
    std::uint64_t address = decoded_.pc;
    for (std::size_t i = 0; i + 1 < decoded_.count; ++i) {
        address += decoded_.instructions[i].length;
        if (decoded_.instructions[i].control != Control::none) cache_.prefetch(address);
    }
    address = decoded_.pc;
    for (std::size_t i = 0; i + 1 < decoded_.count; ++i) {
        address += decoded_.instructions[i].length;
        if (decoded_.instructions[i].control == Control::none || cache_.find(address) == nullptr) continue;
        decoded_.count = i + 1;
        decoded_.end = address;
    }
}

/// Decodes, and takes the records of the block.
bool Translation::begin(std::uint16_t limit) {
    alone_ = limit == kAlone;
    decode_block(code_, alone_ ? 1 : limit != 0 ? limit : kLongestBlock, decoded_);
    if (!alone_) stop_before_watched();
    stop_before_translated();
    id_ = cache_.blocks.take();
    const std::uint32_t marks = cache_.marks.take(static_cast<std::uint32_t>(decoded_.count + 1));
    if (id_ == 0 || marks == 0) return false;
    block_ = &cache_.blocks[id_];
    *block_ = {};
    block_->pc = code_.pc;
    block_->limit = limit;
    lane_ = limit != 0 ? 0 : id_ % kLanes;
    block_->lane = lane_ & 127u;
    block_->marks = &cache_.marks[marks];
    block_->instructions = static_cast<std::uint8_t>(decoded_.count);
    block_->guest_bytes = static_cast<std::uint16_t>(decoded_.end - code_.pc);
    return true;
}

void Translation::emit_instructions() {
    std::uint64_t address = decoded_.pc;
    bool begins_segment = true;
    for (std::size_t i = 0; i < decoded_.count; ++i) {
        const Instruction& instruction = decoded_.instructions[i];
        const bool last = i + 1 == decoded_.count;
        if (begins_segment) emit_prologue(i, address);
        spilled_ = Mark::kNone;
        mark(i, Mark::kNone);
        block_->marks[i].begins_segment = begins_segment;
        begins_segment = instruction.control != Control::none;
        if (!alone_) emit_question(instruction, address);
        if (!begins_segment)
            emit_plain(instruction, address);
        else if (last)
            emit_end(instruction, address);
        else
            emit_way_out(instruction, address);
        block_->marks[i].spilled = spilled_;
        address += instruction.length;
    }
    mark(decoded_.count, Mark::kNone);
    if (decoded_.count == 0)
        emit_step(Instruction{.control = Control::interrupt}, decoded_.pc);
    else if (!decoded_.ends_in_control())
        emit_jump_to(address);
}

Block* Translation::run(const CodeBytes& code, std::uint16_t limit, bool landing) {
    code_ = code;
    if (!begin(limit)) return nullptr;
    if (landing) {
        block_->landing = cache_.new_landing(code.pc);
        if (block_->landing == 0) return nullptr;
        emit_landing(hot_, cold_, cache_.landings[block_->landing], cache_.nowhere(), cache_.landings_loop);
    }
    block_->host = hot_.at();
    if (!alone_ && watched_.holds(code.pc))
        emit_watched_start();
    else
        emit_instructions();
    if (hot_.overflowed() || cold_.overflowed() || out_of_records_) return nullptr;
    block_->host_bytes = static_cast<std::uint16_t>(hot_.at() - block_->host);
    arena_.commit(hot_, cold_, id_);
    return block_;
}

}  // namespace anyperf::engine::x86_64
