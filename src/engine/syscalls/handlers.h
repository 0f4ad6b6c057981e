// handlers.h: the handlers that table.cpp names, by family; each family is a file.
#pragma once

#include "engine/syscalls/table.h"

namespace anyperf::engine::handlers {

// memory.cpp
long mmap(Call&);
long munmap(Call&);
long mprotect(Call&);
long mremap(Call&);
long shmat(Call&);
long shmdt(Call&);
long madvise(Call&);

// process.cpp
long exit(Call&);
long exit_group(Call&);
long set_tid_address(Call&);

// identity.cpp
long arch_prctl(Call&);
long prctl(Call&);
long readlink(Call&);
long readlinkat(Call&);
long open(Call&);
long openat(Call&);

// refused.cpp
long not_there(Call&);

}  // namespace anyperf::engine::handlers
