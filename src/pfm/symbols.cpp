// symbols.cpp: empty. libpfm.so.4 consists of the objects of anyperf_pfm, but CMake requires a source file for a
// target.
