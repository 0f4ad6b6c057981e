// frames_test.cpp: threads and frames in made memory, as each version of Python has them. The real interpreters are in
// tests/clients/run/python_frames_test.py.
#include "python/frames.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "python/code.h"
#include "unit/python/made_memory.h"

namespace anyperf::python {
namespace {

constexpr std::uint64_t kThread = 0x7001;  ///< pthread_self()

class Frames : public testing::TestWithParam<std::uint16_t> {
  protected:
    void SetUp() override {
        runtime_.layout = *layout_of(made_.memory(), GetParam(), 0);
        runtime_.state = made_.place(64);
        const std::uint64_t interpreter = made_.place(256);
        made_.put(runtime_.state + layout().runtime_interpreters, interpreter);
        const std::uint64_t other = made_.place(256);
        state_ = made_.place(256);
        made_.put(interpreter + layout().interpreter_threads, other);
        made_.put(other + layout().thread_id, std::uint64_t{1});
        made_.put(other + layout().thread_next, state_);
        made_.put(state_ + layout().thread_id, kThread);
    }

    const Layout& layout() const { return runtime_.layout; }

    std::uint64_t frame(std::uint64_t code, std::int64_t offset, std::uint64_t previous) {
        const std::uint64_t made = made_.place(kMostFrameBytes);
        made_.put(made + layout().frame_previous, previous);
        made_.put(made + layout().frame_code, code);
        if (layout().code_instructions == kAbsent)
            made_.put(made + layout().frame_instruction, static_cast<std::int32_t>(offset / layout().index_bytes));
        else
            made_.put(made + layout().frame_instruction, code + layout().code_instructions + offset);
        return made;
    }
    /// Says that the frame is the outermost of a call of the interpreter's C function; returns the next frame's
    /// `previous`.
    std::uint64_t end_call(std::uint64_t frame_of_call, std::uint64_t previous) {
        if (layout().frame_is_entry != kAbsent) {
            made_.put(frame_of_call + layout().frame_is_entry, std::uint8_t{1});
            made_.put(frame_of_call + layout().frame_previous, previous);
            return 0;
        }
        if (layout().frame_owner == kAbsent) {
            made_.put(frame_of_call + layout().frame_previous, previous);
            return 0;
        }
        const std::uint64_t end = frame(0, 0, previous);
        made_.put(end + layout().frame_owner, kOwnedByCStack);
        made_.put(frame_of_call + layout().frame_previous, end);
        return end;
    }
    void set_innermost(std::uint64_t frame, const std::vector<std::uint64_t>& cframes) {
        if (layout().cframe_current == kAbsent) return made_.put(state_ + layout().thread_frame, frame);
        made_.put(state_ + layout().thread_frame, cframes.front());
        made_.put(cframes.front() + layout().cframe_current, frame);
        for (std::size_t i = 0; i + 1 < cframes.size(); ++i)
            made_.put(cframes[i] + layout().cframe_previous, cframes[i + 1]);
    }
    std::vector<Frame> walk(std::size_t room = 16) {
        std::vector<Frame> out(room);
        std::uint64_t known = 0;
        out.resize(walk_frames(made_.memory(), runtime_, kThread, known, out));
        return out;
    }

    MadeMemory made_;
    Runtime runtime_;
    std::uint64_t state_ = 0;
};

TEST_P(Frames, TheInnermostComesFirstWithItsInstruction) {
    const std::uint64_t outer = frame(0x500, 12, 0), inner = frame(0x600, 4, outer);
    const std::uint64_t cframe = made_.place(32);
    end_call(outer, 0);
    set_innermost(inner, {cframe});
    const std::vector<Frame> frames = walk();
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[0].code, 0x600u);
    EXPECT_EQ(frames[0].offset, 4);
    EXPECT_EQ(frames[1].code, 0x500u);
    EXPECT_EQ(frames[1].offset, 12);
}

TEST_P(Frames, EachFrameSaysWhichCallRunsIt) {
    const std::uint64_t outer = frame(0x500, 0, 0), middle = frame(0x600, 0, 0), inner = frame(0x700, 0, middle);
    const std::uint64_t outer_cframe = made_.place(32), inner_cframe = made_.place(32);
    const std::uint64_t outer_end = end_call(outer, 0), inner_end = end_call(middle, outer);
    set_innermost(inner, {inner_cframe, outer_cframe});
    const std::vector<Frame> frames = walk();
    ASSERT_EQ(frames.size(), 3u);
    const bool by_cframes = layout().cframe_current != kAbsent;
    const std::uint64_t of_inner = by_cframes ? inner_cframe : inner_end;
    const std::uint64_t of_outer = by_cframes ? outer_cframe : outer_end;
    EXPECT_EQ(frames[0].c_stack, of_inner);
    EXPECT_EQ(frames[1].c_stack, of_inner);
    EXPECT_EQ(frames[2].c_stack, of_outer);
}

TEST_P(Frames, ACycleOfFramesEnds) {
    const std::uint64_t one = frame(0x500, 0, 0), two = frame(0x600, 0, one);
    made_.put(one + layout().frame_previous, two);
    set_innermost(two, {made_.place(32)});
    EXPECT_EQ(walk().size(), 16u);
}

TEST_P(Frames, AFrameThatCannotBeReadEndsTheWalk) {
    set_innermost(frame(0x500, 0, 0x40), {made_.place(32)});
    EXPECT_EQ(walk().size(), 1u);
}

TEST_P(Frames, ACycleOfThreadsEnds) {
    made_.put(state_ + layout().thread_id, std::uint64_t{2});
    made_.put(state_ + layout().thread_next, state_);
    EXPECT_TRUE(walk().empty());
}

TEST_P(Frames, CodeIsReadIfItsTypeIsCode) {
    const std::uint64_t type = made_.place(64), name = made_.place(16), code = made_.place(256);
    made_.put_bytes(name, "code");
    made_.put(type + kTypeName, name);
    made_.put(code + kObjectType, type);
    made_.put(code + layout().code_first_line, std::int32_t{12});
    made_.put(code + layout().code_name, made_.text_object(layout(), "Class.method"));
    made_.put(code + layout().code_file, made_.text_object(layout(), "/tmp/program.py"));
    Code read;
    ASSERT_TRUE(read_code(made_.memory(), layout(), code, read));
    EXPECT_EQ(read.name.view(), "Class.method");
    EXPECT_EQ(read.file.view(), "/tmp/program.py");
    EXPECT_EQ(read.first_line, 12);
    made_.put_bytes(name, "codec");
    EXPECT_FALSE(read_code(made_.memory(), layout(), code, read));
    EXPECT_FALSE(read_code(made_.memory(), layout(), 0, read));
}

INSTANTIATE_TEST_SUITE_P(Versions, Frames, testing::Values(8, 9, 10, 11, 12));

TEST(Layouts, UnknownVersionsHaveNone) {
    MadeMemory made;
    for (const std::uint16_t minor : {0, 7, 14}) EXPECT_FALSE(layout_of(made.memory(), minor, MadeMemory::kStart));
    EXPECT_FALSE(layout_of(made.memory(), 13, MadeMemory::kStart)) << "3.13 without its own description";
}

}  // namespace
}  // namespace anyperf::python
