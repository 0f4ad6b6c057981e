// symbols.cpp: the shared library is all of anyperf_pfm; CMake wants a source of its own.
