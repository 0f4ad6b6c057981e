// load_block.h: makes a block of the cache from a stored one, as the translator would have made it here.
#pragma once

#include <cstdint>

#include "engine/cache/cache.h"
#include "engine/store/stored_block.h"
#include "engine/x86_64/translate/tuple_table.h"

namespace anyperf::engine {

/// The stored block as a block for `pc`, complete but not in the cache's table, like that of Translation::run(). Null
/// if there is no room, or if it can't be placed here: it refers to something out of reach, or counts in a word that
/// this process does not have. `entries`: the ways that lead to it. Preconditions: the cache's lock is held;
/// the arena is prepared; `stored` has been checked. `classes`: those of the file's key.
Block* load_block(Cache& cache, Arena& arena, x86_64::TupleTable& tuples, const StoredBlock& stored, std::uint64_t pc,
                  x86_64::ClassSet classes, Entries entries);

}  // namespace anyperf::engine
