#include "python/frames.h"

#include <array>
#include <cstring>

namespace anyperf::python {

namespace {

constexpr unsigned kMostInterpreters = 64;
constexpr unsigned kMostThreads = 4096;
constexpr std::size_t kDeepest = 4096;  ///< frames of a thread that are looked at

bool is_thread(const Memory& memory, const Layout& layout, std::uint64_t state, std::uint64_t id) {
    return state != 0 && memory.word(state + layout.thread_id) == id;
}

/// The PyThreadState of a thread. Other threads may change the lists meanwhile: at worst, it is not found.
std::uint64_t find_thread(const Memory& memory, const Runtime& runtime, std::uint64_t id) {
    const Layout& layout = runtime.layout;
    std::uint64_t interpreter = memory.word(runtime.state + layout.runtime_interpreters);
    for (unsigned i = 0; i < kMostInterpreters && interpreter != 0; ++i) {
        std::uint64_t thread = memory.word(interpreter + layout.interpreter_threads);
        for (unsigned j = 0; j < kMostThreads && thread != 0; ++j) {
            if (is_thread(memory, layout, thread, id)) return thread;
            thread = memory.word(thread + layout.thread_next);
        }
        interpreter = memory.word(interpreter + layout.interpreter_next);
    }
    return 0;
}

/// The fields of a frame. They are read at once.
class FrameFields {
  public:
    explicit FrameFields(const Layout& layout) : layout_(layout), bytes_(frame_bytes(layout)) {}

    bool read(const Memory& memory, std::uint64_t frame) { return memory.read(fields_.data(), frame, bytes_); }

    std::uint64_t previous() const { return field<std::uint64_t>(layout_.frame_previous); }
    std::uint64_t code() const { return field<std::uint64_t>(layout_.frame_code); }
    /// The offset of the instruction in the code, in bytes.
    std::int64_t offset() const {
        if (layout_.code_instructions == kAbsent)
            return std::int64_t{field<std::int32_t>(layout_.frame_instruction)} * layout_.index_bytes;
        const std::uint64_t start = code() + layout_.code_instructions;
        return static_cast<std::int64_t>(field<std::uint64_t>(layout_.frame_instruction) - start);
    }
    bool is_entry() const {
        return layout_.frame_is_entry != kAbsent && field<std::uint8_t>(layout_.frame_is_entry) != 0;
    }
    /// Whether it is not a function's, but the end of the frames of a call of _PyEval_EvalFrameDefault().
    bool is_end() const {
        return layout_.frame_owner != kAbsent && field<std::uint8_t>(layout_.frame_owner) == kOwnedByCStack;
    }

  private:
    template <class T>
    T field(std::uint16_t offset) const {
        T value;
        std::memcpy(&value, fields_.data() + offset, sizeof value);
        return value;
    }

    const Layout& layout_;
    std::size_t bytes_;
    std::array<std::byte, kMostFrameBytes> fields_;
};

}  // namespace

std::size_t walk_frames(const Memory& memory, const Runtime& runtime, std::uint64_t thread_id,
                        std::uint64_t& thread_state, std::span<Frame> out) {
    const Layout& layout = runtime.layout;
    if (!is_thread(memory, layout, thread_state, thread_id)) thread_state = find_thread(memory, runtime, thread_id);
    if (thread_state == 0) return 0;
    std::uint64_t frame = memory.word(thread_state + layout.thread_frame);
    const bool has_cframes = layout.cframe_current != kAbsent;
    std::uint64_t c_stack = has_cframes ? frame : 0;
    if (has_cframes) frame = memory.word(frame + layout.cframe_current);
    FrameFields fields{layout};
    std::size_t count = 0, of_call = 0;  // the frames from `of_call` on are of one call, whose place is not known yet
    for (std::size_t i = 0; i < kDeepest && frame != 0 && fields.read(memory, frame); ++i) {
        if (!fields.is_end() && count < out.size()) out[count++] = {fields.code(), fields.offset(), c_stack};
        if (fields.is_entry() || fields.is_end()) {
            if (has_cframes) c_stack = memory.word(c_stack + layout.cframe_previous);
            for (; !has_cframes && of_call < count; ++of_call) out[of_call].c_stack = frame;
            if (count == out.size()) break;
        }
        if (count == out.size() && layout.has_separate_calls()) break;
        frame = fields.previous();
    }
    return count;
}

}  // namespace anyperf::python
