# Functions that make targets of the folders of src/, tests/ and bench/. Compiler flags are set here only.
option(BUILD_TESTING "build the tests" OFF)
option(ANYPERF_BENCH "build the benches" OFF)
option(ANYPERF_FUZZ "build the fuzz targets (clang)" OFF)
set(ANYPERF_SANITIZE "" CACHE STRING "value of -fsanitize= for everything hosted")

find_program(ANYPERF_CCACHE ccache)
if(ANYPERF_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER ${ANYPERF_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${ANYPERF_CCACHE})
endif()

add_library(anyperf_options INTERFACE)
target_compile_features(anyperf_options INTERFACE cxx_std_23)
target_compile_options(anyperf_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # False warnings of GCC 12 at -O3 about lengths in the standard library's strings and vectors (GCC bugs 105651, 105329).
    # With link-time optimisation the linker makes them.
    set(anyperf_false_warnings -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
    target_compile_options(anyperf_options INTERFACE ${anyperf_false_warnings})
    target_link_options(anyperf_options INTERFACE ${anyperf_false_warnings})
elseif(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    # std::stable_sort of GCC 12's library calls a function that the same library declares deprecated.
    target_compile_options(anyperf_options INTERFACE -Wno-deprecated-declarations)
endif()
target_include_directories(anyperf_options INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
if(ANYPERF_SANITIZE)
    target_compile_options(anyperf_options INTERFACE -fsanitize=${ANYPERF_SANITIZE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    string(REPLACE "fuzzer-no-link," "" anyperf_link_sanitizers "${ANYPERF_SANITIZE}")
    target_link_options(anyperf_options INTERFACE -fsanitize=${anyperf_link_sanitizers})
endif()

# Must be linked after anyperf_options, because the last -fsanitize option wins. Without the checks for undefined behaviour
# the expectations of tests compile in half the time, and the checks would find nothing in them.
add_library(anyperf_test_options INTERFACE)
if(ANYPERF_SANITIZE MATCHES "undefined")
    target_compile_options(anyperf_test_options INTERFACE -fno-sanitize=undefined)
endif()

# All presets but debug compile many files as one (CMAKE_UNITY_BUILD), because most of the time is spent in headers.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 10)

# anyperf_library(FOLDER SOURCES a.cpp … [APART b.cpp …] [DEPENDS other folders…] [PRIVATE external libraries…])
# APART names those of SOURCES with a local name that another file uses, too. They are never compiled with others as one.
# DEPENDS are the arrows of docs/architecture.md; tools/structure.py compares every #include with them.
function(anyperf_library folder)
    cmake_parse_arguments(arg "" "" "SOURCES;APART;DEPENDS;PRIVATE" ${ARGN})
    set_source_files_properties(${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    add_library(anyperf_${folder} STATIC ${arg_SOURCES})
    target_link_libraries(anyperf_${folder} PUBLIC anyperf_options PRIVATE ${arg_PRIVATE})
    foreach(other ${arg_DEPENDS})
        target_link_libraries(anyperf_${folder} PUBLIC anyperf_${other})
    endforeach()
    set_property(TARGET anyperf_${folder} PROPERTY POSITION_INDEPENDENT_CODE ON)
endfunction()

# anyperf_test(NAME SOURCES a_test.cpp … [APART b_test.cpp …] LINKS folders… [PRIVATE external libraries…] [LABELS l…] [ONE_BY_ONE])
# One executable; each of its cases is a test of ctest. With ONE_BY_ONE ctest runs no two of them at the same time.
function(anyperf_test name)
    cmake_parse_arguments(arg "ONE_BY_ONE" "TIMEOUT" "SOURCES;APART;LINKS;PRIVATE;LABELS" ${ARGN})
    set_source_files_properties(${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE anyperf_options anyperf_test_options GTest::gmock GTest::gtest_main ${arg_PRIVATE})
    foreach(folder ${arg_LINKS})
        target_link_libraries(${name} PRIVATE anyperf_${folder})
    endforeach()
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_compile_definitions(${name} PRIVATE ANYPERF_SOURCE_DIR="${CMAKE_SOURCE_DIR}" ANYPERF_BINARY_DIR="${CMAKE_BINARY_DIR}")
    set_property(TARGET ${name} PROPERTY RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    set_property(TARGET ${name} PROPERTY INTERPROCEDURAL_OPTIMIZATION OFF)
    # The tested libraries are optimised as shipped. The test's own code is not: compiling it would take longer than running.
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)
    # The target tests_LABEL builds the tests of `ctest -L LABEL`, so that a sanitizer stage builds only what it runs.
    foreach(label ${arg_LABELS})
        if(NOT TARGET tests_${label})
            add_custom_target(tests_${label})
        endif()
        add_dependencies(tests_${label} ${name})
    endforeach()
    set(lock)
    if(arg_ONE_BY_ONE)
        set(lock RESOURCE_LOCK ${name})
    endif()
    gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
        PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}" ${lock})
endfunction()

# anyperf_python_tests(NAME FILES a_test b_test … LABELS l… [TIMEOUT s] [ENVIRONMENT NAME=VALUE…])
# Each method of these unittest files is a test of ctest. The environment variable ANYPERF is the program under test.
function(anyperf_python_tests name)
    cmake_parse_arguments(arg "" "TIMEOUT" "FILES;LABELS;ENVIRONMENT" ${ARGN})
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    foreach(file ${arg_FILES})
        file(STRINGS ${file}.py methods REGEX "^    def test_")
        foreach(method ${methods})
            string(REGEX REPLACE "^    def (test_[a-z0-9_]+).*" "\\1" case "${method}")
            add_test(NAME ${name}.${file}.${case}
                COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/${file}.py -k ${case})
            set_tests_properties(${name}.${file}.${case} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
                SKIP_REGULAR_EXPRESSION "skipped=" ENVIRONMENT "ANYPERF=$<TARGET_FILE:anyperf>;${arg_ENVIRONMENT}")
        endforeach()
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file}.py)
    endforeach()
endfunction()

# anyperf_bench(NAME SOURCES a_bench.cpp LINKS targets…): a program in build/bench, which tools/bench builds and runs.
function(anyperf_bench name)
    cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE anyperf_options ${arg_LINKS})
    target_compile_definitions(${name} PRIVATE ANYPERF_SOURCE_DIR="${CMAKE_SOURCE_DIR}" ANYPERF_BINARY_DIR="${CMAKE_BINARY_DIR}")
    set_property(TARGET ${name} PROPERTY RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    add_dependencies(benches ${name})
endfunction()

# anyperf_syscall_rows(FORM SOURCE): SOURCE may include "syscall_FORM.inc", rows that are made from data/syscalls/syscalls.tsv.
# FORM is one of those of tools/syscalls/generate.py.
function(anyperf_syscall_rows form source)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(rows ${CMAKE_CURRENT_BINARY_DIR}/syscall_${form}.inc)
    set(facts ${CMAKE_SOURCE_DIR}/data/syscalls/syscalls.tsv)
    set(generator ${CMAKE_SOURCE_DIR}/tools/syscalls/generate.py)
    add_custom_command(OUTPUT ${rows}
        COMMAND ${Python3_EXECUTABLE} -B ${generator} ${form} --data ${facts} --output ${rows}
        DEPENDS ${facts} ${generator} VERBATIM)
    set_source_files_properties(${source} PROPERTIES
        OBJECT_DEPENDS ${rows} INCLUDE_DIRECTORIES ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
