#include "heed/explain/glyphs.h"

#include <fontconfig/fontconfig.h>

#include <memory>
#include <set>

#include "heed/base/shared_library.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

// What is called of fontconfig. librsvg brings it; like librsvg it is loaded when it is first needed.
struct Fontconfig {
  decltype(&FcInitLoadConfigAndFonts) load = nullptr;
  decltype(&FcConfigDestroy) release_config = nullptr;
  decltype(&FcConfigGetFonts) fonts = nullptr;
  decltype(&FcPatternGetCharSet) characters = nullptr;
  decltype(&FcCharSetHasChar) has = nullptr;

  static const Fontconfig& loaded() {
    static const Fontconfig library;
    return library;
  }
  explicit operator bool() const { return whole_; }

 private:
  Fontconfig() {
    const SharedLibrary library("libfontconfig.so.1");
    whole_ = library.find(load, "FcInitLoadConfigAndFonts") && library.find(release_config, "FcConfigDestroy") &&
             library.find(fonts, "FcConfigGetFonts") && library.find(characters, "FcPatternGetCharSet") &&
             library.find(has, "FcCharSetHasChar");
  }
  bool whole_ = false;
};

// The fonts of this system, as long as it lives.
class Fonts {
 public:
  Fonts()
      : library_(Fontconfig::loaded()),
        config_(library_ ? library_.load() : nullptr, library_.release_config),
        fonts_(config_ ? library_.fonts(config_.get(), FcSetSystem) : nullptr) {}

  bool known() const { return fonts_ != nullptr; }
  bool has(FcChar32 character) const {
    for (int i = 0; i < fonts_->nfont; ++i) {
      FcCharSet* own = nullptr;
      if (library_.characters(fonts_->fonts[i], FC_CHARSET, 0, &own) == FcResultMatch && library_.has(own, character))
        return true;
    }
    return false;
  }

 private:
  const Fontconfig& library_;
  std::unique_ptr<FcConfig, decltype(Fontconfig::release_config)> config_;
  const FcFontSet* fonts_;
};

}  // namespace

std::string missing_glyphs(const Trace& trace) {
  std::string texts;
  for (const TraceAxis& axis : trace.axes) texts += axis.text.text;
  return missing_glyphs(texts);
}

std::string missing_glyphs(std::string_view text) {
  std::string missing;
  std::set<char32_t> seen;
  std::unique_ptr<Fonts> fonts;  // read for the first character beyond ASCII, which every font has
  for (const Character& character : Characters(text)) {
    const char32_t code = character.code;
    if (code < 0x80 || !character.valid || !needs_glyph(code) || !seen.insert(code).second) continue;
    if (!fonts) fonts = std::make_unique<Fonts>();
    if (!fonts->known()) return "";
    if (!fonts->has(code)) missing += character.bytes;
  }
  return missing;
}

}  // namespace heed
