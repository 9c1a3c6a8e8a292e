# Compiling a source takes longer for the headers it reads and for what it makes of their templates than for its own
# lines, so the sources of a folder are compiled together. Names in anonymous namespaces therefore differ within a folder.
# docs/decisions/0018 has the figures.

# heed_batches(<result> <name> <count> <source>...): lists in <result> what to compile instead of the sources: files that
# include them, at most <count> for a folder; 0 gives the sources themselves. A source's batch depends on its name alone,
# so that a new one touches no other batch. What Highway includes again for each SIMD target is compiled alone.
function(heed_batches result name count)
  if(count EQUAL 0)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(compiled "")
  set(batches "")
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} by_target REGEX "hwy/foreach_target.h")
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    if(by_target)
      list(APPEND compiled ${source})
      continue()
    endif()
    string(MD5 hash ${path})
    string(SUBSTRING ${hash} 0 6 hash)
    math(EXPR number "0x${hash} % ${count}")
    get_filename_component(folder ${path} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}_${number}" batch)
    list(APPEND batches ${batch})
    # Found by way of -I, so that ccache sees the same text in every checkout.
    string(APPEND text_${batch} "#include \"${path}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES batches)
  foreach(batch IN LISTS batches)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/batches/${name}/${batch}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text_${batch}}" @ONLY)
    # GCC takes what is included for a header, in which such names would be a fault.
    set(options $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    foreach(room IN LISTS HEED_UNOPTIMISED_ROOMS)
      if(batch MATCHES "^src_${room}_")
        list(APPEND options -O0)
      endif()
    endforeach()
    set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${options}")
    list(APPEND compiled ${file})
  endforeach()
  set(${result} ${compiled} PARENT_SCOPE)
endfunction()
