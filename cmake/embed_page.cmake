# Writes SOURCE, which defines heed::page_html() as the bytes of the file PAGE, or as nothing if that is empty, and
# heed::page_scripts() as the hashes of its inline scripts.
#   cmake -D PAGE=web/dist/index.html -D SOURCE=page.cpp -P embed_page.cmake

# The 64 hexadecimal digits of a SHA-256 in base64.
function(to_base64 hex result)
  set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(text "")
  foreach(at RANGE 0 60 6)
    string(SUBSTRING "${hex}0000" ${at} 6 three_bytes)
    foreach(shift 18 12 6 0)
      math(EXPR digit "0x${three_bytes} >> ${shift} & 63")
      string(SUBSTRING ${digits} ${digit} 1 digit)
      string(APPEND text ${digit})
    endforeach()
  endforeach()
  string(SUBSTRING ${text} 0 43 text)  # 32 bytes; the last digit stands for none
  set(${result} "${text}=" PARENT_SCOPE)
endfunction()

# As a Content-Security-Policy lists them:  'sha256-…' 'sha256-…'
function(hash_scripts html result)
  set(hashes "")
  string(FIND "${html}" "<script" tag)
  while(NOT tag EQUAL -1)
    string(SUBSTRING "${html}" ${tag} -1 html)
    string(FIND "${html}" ">" begin)
    string(FIND "${html}" "</script" end)
    math(EXPR begin "${begin} + 1")
    math(EXPR length "${end} - ${begin}")
    if(length LESS 0)
      message(FATAL_ERROR "${PAGE}: a script has no end")
    endif()
    string(SUBSTRING "${html}" ${begin} ${length} script)
    string(SHA256 hash "${script}")
    to_base64(${hash} hash)
    list(APPEND hashes "'sha256-${hash}'")
    string(SUBSTRING "${html}" ${end} -1 html)
    string(FIND "${html}" "<script" tag)
  endwhile()
  list(JOIN hashes " " hashes)
  set(${result} "${hashes}" PARENT_SCOPE)
endfunction()

set(bytes "")
set(scripts "")
if(PAGE)
  file(READ ${PAGE} html)
  hash_scripts("${html}" scripts)
  file(READ ${PAGE} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  # Lines that a person can scroll through.
  string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes "${bytes}")
endif()
file(WRITE ${SOURCE} "#include \"heed/explain/page.h\"

namespace heed {
namespace {

// The page, and a zero so that there is always a byte.
constexpr unsigned char kPage[] = {
${bytes}0};

}  // namespace

std::string_view page_html() { return {reinterpret_cast<const char*>(kPage), sizeof(kPage) - 1}; }
std::string_view page_scripts() { return \"${scripts}\"; }

}  // namespace heed
")
