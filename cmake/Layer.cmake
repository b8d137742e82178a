# How every target of the project is compiled, and what a layer (one folder's library) is.

add_library(dunlin_flags INTERFACE)
target_compile_definitions(dunlin_flags INTERFACE _POSIX_C_SOURCE=200809L _FILE_OFFSET_BITS=64)
target_compile_options(dunlin_flags INTERFACE
    -Wall -Wextra -Wpedantic -Werror
    -Wshadow -Wundef -Wvla -Walloca -Wformat=2 -Wwrite-strings -Wcast-qual -Wcast-align
    -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
    -Wredundant-decls -Wnested-externs -Wdouble-promotion -Wimplicit-fallthrough
    $<$<C_COMPILER_ID:GNU>:-Wlogical-op> $<$<C_COMPILER_ID:GNU>:-Wduplicated-cond>)

# What is shipped is hardened; the sanitizers of the other presets want none of it. Some
# distributions' compilers set _FORTIFY_SOURCE themselves, hence -U.
target_compile_options(dunlin_flags INTERFACE
    $<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>
    $<$<CONFIG:Release>:-fstack-protector-strong> $<$<CONFIG:Release>:-fstack-clash-protection>)
target_link_options(dunlin_flags INTERFACE
    $<$<CONFIG:Release>:-Wl,-z,relro> $<$<CONFIG:Release>:-Wl,-z,now>
    $<$<CONFIG:Release>:-Wl,-z,noexecstack>)

# dunlin_layer(<target> [PUBLIC <layer>…] [PRIVATE <library>…] [EXCEPT <folder>…])
#
# A static library of all .c files below the current folder, except in folders that are layers of their
# own. Includes are written from the
# project's root ("base/buf.h"), and generated headers from the binary root, which mirrors it.
# PRIVATE keeps flags and libraries from spreading; who may include whom `dev check` looks at.
function(dunlin_layer target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PUBLIC;PRIVATE;EXCEPT")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.c")
    foreach(folder IN LISTS arg_EXCEPT)
        list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}/")
    endforeach()
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC
        "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
    target_link_libraries(${target} PUBLIC ${arg_PUBLIC} PRIVATE dunlin_flags ${arg_PRIVATE})
endfunction()
