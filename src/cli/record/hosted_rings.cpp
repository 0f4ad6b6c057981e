#include "cli/record/hosted_rings.h"

#include <unistd.h>

namespace anyperf::cli::record {

namespace {

// The rings of a run are in the run memory, which this process has mapped already. Programs of the run write into them.
// The run wakes the recorder by an eventfd, which stays readable until its counter is read.
class HostedRings final : public recording::RingSource {
  public:
    explicit HostedRings(HostedRun& run) : run_(run) {}

    counting::Kernel& kernel() override { return run_.kernel(); }
    recording::Ring::Writer writer() const override { return recording::Ring::Writer::programs; }
    std::expected<std::span<std::byte>, int> map(int event, std::size_t bytes, bool overwrite) override {
        return run_.hosting().map(event, bytes, overwrite);
    }
    void unmap(int event, std::span<std::byte>) override { run_.hosting().unmap(event); }
    std::uint64_t locked_out() override { return run_.hosting().locked_out(); }
    int wake_fd() override { return run_.hosting().wake_fd(); }
    void clear_wake() override {
        std::uint64_t count = 0;
        [[maybe_unused]] const ssize_t got = ::read(wake_fd(), &count, sizeof count);
    }

  private:
    HostedRun& run_;
};

}  // namespace

std::unique_ptr<recording::RingSource> hosted_rings(HostedRun& run) {
    return std::make_unique<HostedRings>(run);
}

}  // namespace anyperf::cli::record
