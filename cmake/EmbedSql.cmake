# dunlin_embed_sql(TARGET <target> NAME <name> [FOLDER <folder>])
#
# Compiles the SQL below <folder> (default: sql) into <target> and generates <name>_sql.h, which is
# included as "<folder of the caller>/<name>_sql.h". See EmbedSqlGenerate.cmake for what is read
# and what comes out.

set(DUNLIN_EMBED_SQL_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/EmbedSqlGenerate.cmake")

function(dunlin_embed_sql)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;NAME;FOLDER" "")
    if(NOT arg_FOLDER)
        set(arg_FOLDER sql)
    endif()
    set(folder "${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER}")
    set(header "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_sql.h")
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_sql.c")
    file(RELATIVE_PATH include "${PROJECT_BINARY_DIR}" "${header}")

    # The command names its files, so that it runs again when one is taken away.
    file(GLOB queries CONFIGURE_DEPENDS "${folder}/*.sql")
    file(GLOB migrations CONFIGURE_DEPENDS "${folder}/migrations/*.sql")
    add_custom_command(
        OUTPUT "${header}" "${source}"
        COMMAND "${CMAKE_COMMAND}" -D "NAME=${arg_NAME}" -D "INCLUDE=${include}"
                -D "QUERIES=${queries}" -D "MIGRATIONS=${migrations}"
                -D "HEADER=${header}" -D "SOURCE=${source}" -P "${DUNLIN_EMBED_SQL_SCRIPT}"
        DEPENDS ${queries} ${migrations} "${DUNLIN_EMBED_SQL_SCRIPT}"
        COMMENT "Embedding the SQL of ${arg_FOLDER} as ${include}"
        VERBATIM)
    target_sources(${arg_TARGET} PRIVATE "${header}" "${source}")
endfunction()
