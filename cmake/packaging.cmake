# Installs man pages, completion for bash, zsh and fish, and the licence next to the products, and makes Debian packages.
include(GNUInstallDirs)

# Man pages are written for scdoc. If it is missing, everything else is built and installed.
find_program(ANYPERF_SCDOC scdoc)
if(ANYPERF_SCDOC)
    file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.scd)
    foreach(page ${pages})
        cmake_path(GET page STEM LAST_ONLY name)
        set(made ${CMAKE_BINARY_DIR}/man/${name})
        add_custom_command(OUTPUT ${made}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
            COMMAND sh -c "${ANYPERF_SCDOC} < ${page} > ${made}"
            DEPENDS ${page} VERBATIM)
        list(APPEND made_pages ${made})
    endforeach()
    add_custom_target(man_pages ALL DEPENDS ${made_pages})
    add_dependencies(products man_pages)
    install(FILES ${made_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
else()
    message(STATUS "scdoc not found: man pages are not built")
endif()

# The program prints its own completion, so it always has all verbs and options. Debian's zsh searches vendor-completions below
# /usr and site-functions below /usr/local only; others search site-functions.
function(install_completion shell name)
    set(script ${CMAKE_BINARY_DIR}/completion/${shell}/${name})
    add_custom_command(OUTPUT ${script}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/completion/${shell}
        COMMAND sh -c "$<TARGET_FILE:anyperf> completion ${shell} > ${script}"
        DEPENDS anyperf VERBATIM)
    add_custom_target(${shell}_completion ALL DEPENDS ${script})
    add_dependencies(products ${shell}_completion)
    foreach(place ${ARGN})
        install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATADIR}/${place})
    endforeach()
endfunction()
install_completion(bash anyperf bash-completion/completions)
install_completion(zsh _anyperf zsh/site-functions zsh/vendor-completions)
install_completion(fish anyperf.fish fish/vendor_completions.d)

install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
# The pages keep their places relative to README.md, so that its links and theirs work where they are installed.
file(GLOB docs_pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/*.md)
foreach(page README.md CHANGELOG.md CONTRIBUTING.md LICENSE)
    install(FILES ${CMAKE_SOURCE_DIR}/${page} DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()
install(FILES ${docs_pages} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)

# `cpack` packs what `--target products` has built. Without this it would build tests and benches first.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME anyperf)
set(CPACK_PACKAGE_CONTACT "the anyperf authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "count and name Linux performance events, and explain why they don't work")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# `anyperf` and `libanyperf-dev` (the C++ API) conflict with no other package. `anyperf-libpfm4` installs our libpfm.so.4
# instead of Debian's: it has the files of libpfm4 and libpfm4-dev, so it replaces both, and provides their version for
# packages that depend on it.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL anyperf library)
set(CPACK_DEBIAN_ANYPERF_PACKAGE_NAME anyperf)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libanyperf-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "name, open and count Linux performance events, and read recordings, for C++ programs")
if(TARGET pfm)
    set(taken libpfm4 libpfm4-dev)
    list(APPEND CPACK_COMPONENTS_ALL libpfm)
    set(CPACK_DEBIAN_LIBPFM_PACKAGE_NAME anyperf-libpfm4)
    set(CPACK_DEBIAN_LIBPFM_DESCRIPTION "performance event names of every CPU, in the place of libpfm4")
    list(JOIN taken ", " CPACK_DEBIAN_LIBPFM_PACKAGE_CONFLICTS)
    list(JOIN taken ", " CPACK_DEBIAN_LIBPFM_PACKAGE_REPLACES)
    list(TRANSFORM taken APPEND " (= 4.13.0-1)")
    list(JOIN taken ", " CPACK_DEBIAN_LIBPFM_PACKAGE_PROVIDES)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)  # one package for each component
include(CPack)
