# Writes SOURCE, which defines heed::page_html() as the bytes of the file PAGE, or as nothing if that is empty.
#   cmake -D PAGE=web/dist/index.html -D SOURCE=page.cpp -P embed_page.cmake
set(bytes "")
if(PAGE)
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

}  // namespace heed
")
