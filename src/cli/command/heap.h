// heap.h: the heap of a command that reads large recordings.
#pragma once

namespace anyperf::cli {

/// Puts the first 64 MiB of the heap into pages of 2 MiB, where the kernel has them. What is not used takes no memory.
/// To be called once, before the work begins.
void use_large_pages_for_heap();

}  // namespace anyperf::cli
