// random_files.h: files below /proc whose text is random. A deterministic run makes it from its seed (randomness.cpp).
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/engine.h"

namespace anyperf::engine {

/// Whether the run itself makes this file's text. Only the literal path is recognised.
bool is_random_file(const Engine& engine, std::string_view path);

/// Opens that file with the flags of open(2). Each open of `uuid` gives other bytes. Returns a descriptor or a negated
/// errno.
long open_random_file(Engine& engine, std::string_view path, std::uint64_t flags);

}  // namespace anyperf::engine
