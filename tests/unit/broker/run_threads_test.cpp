// run_threads_test.cpp: which thread the broker takes a page for. The kernel's word counts; the page's and the
// sender's own are hints.
#include "broker/tasks/run_threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string_view>

namespace anyperf::broker {
namespace {

using subsystem::TaskId;

constexpr std::uint32_t kPage = 3;

/// A process that does nothing until the scope ends.
class Idle {
  public:
    Idle() : pid_(::fork()) {
        if (pid_ != 0) return;
        for (;;) ::pause();
    }
    ~Idle() { end(); }
    Idle(const Idle&) = delete;
    Idle& operator=(const Idle&) = delete;
    void end() {
        if (pid_ > 0) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    pid_t pid() const { return pid_; }

  private:
    pid_t pid_;
};

class Threads : public testing::Test {
  protected:
    void SetUp() override { set_engine("/proc/self/exe"); }
    void set_engine(std::string_view path) {
        std::ranges::fill(memory_.header().engine_path, '\0');
        std::ranges::copy(path, memory_.header().engine_path);
    }
    void claim(std::int32_t pid, std::int32_t tid) {
        run::ThreadPage& page = memory_.thread_page(kPage);
        page.state = run::RecordState::live;
        page.pid = pid;
        page.tid = tid;
    }

    RunMemory memory_ = *RunMemory::make();
    RunThreads threads_{memory_};
};

TEST_F(Threads, SenderIsTheProcessThatTheKernelNames) {
    claim(::getpid(), ::getpid());
    const auto task = threads_.sender(kPage, ::getpid(), ::getpid());
    ASSERT_TRUE(task.has_value());
    EXPECT_EQ(threads_.kernel_ids(*task), (KernelIds{::getpid(), ::getpid()}));
}

TEST_F(Threads, SenderThatNamesAThreadOfAnotherProcessIsRefused) {
    claim(::getppid(), ::getppid());
    EXPECT_FALSE(threads_.sender(kPage, ::getpid(), ::getppid()).has_value());
    EXPECT_FALSE(threads_.sender(kPage, 0, ::getpid()).has_value());
    EXPECT_FALSE(threads_.sender(run::kMaximumThreadPages, ::getpid(), ::getpid()).has_value());
}

TEST_F(Threads, PageOfALivingThreadBelongsToNoOtherProcessWhateverThePageSays) {
    Idle owner;
    claim(owner.pid(), owner.pid());
    ASSERT_TRUE(threads_.sender(kPage, owner.pid(), owner.pid()).has_value());
    claim(::getpid(), ::getpid());  // forged
    EXPECT_FALSE(threads_.sender(kPage, ::getpid(), ::getpid()).has_value());
    EXPECT_FALSE(threads_.find(kPage).has_value());
    owner.end();
    EXPECT_TRUE(threads_.sender(kPage, ::getpid(), ::getpid()).has_value());
}

TEST_F(Threads, ThreadThatOnlyItsPageNamesMustRunTheEngine) {
    Idle stranger;
    claim(stranger.pid(), stranger.pid());
    EXPECT_TRUE(threads_.find(kPage).has_value());
    threads_.forget(kPage);
    set_engine("/bin/sh");
    EXPECT_FALSE(threads_.find(kPage).has_value());
}

TEST_F(Threads, PageWithoutAThreadHasNone) {
    EXPECT_FALSE(threads_.find(kPage).has_value());
    claim(-1, -1);
    EXPECT_FALSE(threads_.find(kPage).has_value());
    claim(0x7fffffff, 0x7fffffff);
    EXPECT_FALSE(threads_.find(kPage).has_value());
    EXPECT_FALSE(threads_.find(~0U).has_value());
}

TEST_F(Threads, TaskThatHasEndedHasNoIds) {
    Idle owner;
    claim(owner.pid(), owner.pid());
    const auto task = threads_.sender(kPage, owner.pid(), owner.pid());
    ASSERT_TRUE(task.has_value());
    EXPECT_EQ(threads_.threads_of(owner.pid()).size(), 1u);
    threads_.forget(kPage);
    EXPECT_FALSE(threads_.kernel_ids(*task));
    EXPECT_TRUE(threads_.threads_of(owner.pid()).empty());
}

}  // namespace
}  // namespace anyperf::broker
