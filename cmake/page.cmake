# The page of web/ as a source of the library: npm fetches its tools, Vite builds one HTML file, and embed_page.cmake
# turns that into C++. Without npm, or with HEED_PAGE=OFF, the library has no page and everything else works.
option(HEED_PAGE "Build in the page that heed serve shows; needs npm" ON)
set(heed_page_source ${PROJECT_BINARY_DIR}/page/page.cpp)
set(heed_page_file "")

find_program(NPM npm)
if(HEED_PAGE AND NPM)
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(heed_page_file ${web}/dist/index.html)
  file(GLOB_RECURSE heed_page_inputs CONFIGURE_DEPENDS ${web}/src/*)
  list(APPEND heed_page_inputs ${web}/index.html ${web}/vite.config.ts ${web}/tsconfig.json)
  # npm writes this list when it has installed everything; another build folder may have had it do so already.
  set(fetch [[test node_modules/.package-lock.json -nt package-lock.json || "$0" ci --no-audit --no-fund --silent]])
  add_custom_command(OUTPUT ${web}/node_modules/.package-lock.json
                     COMMAND sh -c ${fetch} ${NPM}
                     DEPENDS ${web}/package.json ${web}/package-lock.json
                     WORKING_DIRECTORY ${web} VERBATIM
                     COMMENT "Fetching the tools of the page (HEED_PAGE=OFF does without)")
  add_custom_command(OUTPUT ${heed_page_file}
                     COMMAND ${NPM} run --silent build -- --logLevel warn
                     DEPENDS ${heed_page_inputs} ${web}/node_modules/.package-lock.json
                     WORKING_DIRECTORY ${web} VERBATIM
                     COMMENT "Building the page")
elseif(HEED_PAGE)
  message(STATUS "There is no npm, so heed serve will have no page")
endif()

add_custom_command(OUTPUT ${heed_page_source}
                   COMMAND ${CMAKE_COMMAND} -D "PAGE=${heed_page_file}" -D "SOURCE=${heed_page_source}"
                           -P ${CMAKE_CURRENT_LIST_DIR}/embed_page.cmake
                   DEPENDS ${heed_page_file} ${CMAKE_CURRENT_LIST_DIR}/embed_page.cmake VERBATIM)
add_custom_target(heed_page DEPENDS ${heed_page_source})
