// random_stream.h: the random bytes of a deterministic run. Each process has one stream, which is the same in every run
// with the same seed (--seed). All sources of random bytes that a program can use take them from there: getrandom(2),
// the random devices, AT_RANDOM, RDRAND.
//
// Word n of a stream is a function of the stream's seed and of n: splitmix64 (Steele, Lea, Flood: "Fast splittable
// pseudorandom number generators", 2014). So the only state is a position, and threads need no lock. The numbers pass
// statistical tests, but the seed reveals all of them: a deterministic run is for measuring, not for secrets.
#pragma once

#include <cstdint>

namespace anyperf::engine {

class RandomStream {
  public:
    /// Begins a stream. A child of fork(2) and a program after execve(2) begin one with a seed that was drawn from the
    /// stream before, so no two processes of a run have the same bytes.
    void begin(std::uint64_t seed) {
        seed_ = seed;
        position_ = 0;
    }

    /// The next 64 bits. Threads may call it at the same time.
    std::uint64_t next();

  private:
    std::uint64_t seed_ = 0;
    std::uint64_t position_ = 0;
};

}  // namespace anyperf::engine
