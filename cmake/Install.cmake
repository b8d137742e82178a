# Headers, libraries, the command, and what finds them: pkg-config files and a CMake package. All of
# it may be moved as a whole after it was installed.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/dunlin")

set_target_properties(dunlin_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS dunlin dunlin-central dunlin-mongo EXPORT dunlin-targets)
install(TARGETS dunlin_cli dunlind)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/dunlin" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.h")

install(EXPORT dunlin-targets NAMESPACE dunlin:: DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/dunlin-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/dunlin-config.cmake.in"
    "${PROJECT_BINARY_DIR}/dunlin-config.cmake" INSTALL_DESTINATION "${package_dir}")
install(FILES "${PROJECT_BINARY_DIR}/dunlin-config.cmake"
    "${PROJECT_BINARY_DIR}/dunlin-config-version.cmake" DESTINATION "${package_dir}")

# install_pc(<library> <description>)
function(install_pc name description)
    file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    set(prefix "\${pcfiledir}/${up}")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/library.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

install_pc(dunlin "${PROJECT_DESCRIPTION}")
install_pc(dunlin-central "The shared side of dunlin, embedded")
install_pc(dunlin-mongo "The remote of dunlin over MongoDB's driver")
