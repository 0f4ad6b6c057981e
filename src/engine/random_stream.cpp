#include "engine/random_stream.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio

std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

}  // namespace

std::uint64_t RandomStream::next() {
    const std::uint64_t n = __atomic_add_fetch(&position_, 1, __ATOMIC_RELAXED);
    // The seed is mixed, too. Otherwise seeds that differ by kStep would give one stream at different positions.
    return mixed(mixed(seed_) + n * kStep);
}

}  // namespace anyperf::engine
