#include "heed/explain/glyphs.h"

#include <fontconfig/fontconfig.h>

#include <memory>
#include <set>

#include "heed/base/shared_library.h"
#include "heed/base/utf8.h"
#include "heed/explain/svg_parts.h"

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

// Control characters and marks that are never seen need no glyph.
bool is_seen(FcChar32 c) {
  return (c < 0x7f || c > 0xa0) && (c < 0x200b || c > 0x200f) && (c < 0x2028 || c > 0x202e) &&
         (c < 0xfe00 || c > 0xfe0f) && c != 0xfeff;
}

}  // namespace

std::string missing_glyphs(const Trace& trace) {
  std::string texts;
  for (const TraceAxis& axis : trace.axes) texts += axis.text.text;
  std::string_view rest(texts.data(), valid_utf8_prefix(texts));
  std::string missing;
  std::set<FcChar32> seen;
  std::unique_ptr<Fonts> fonts;  // read for the first character beyond ASCII, which every font has
  while (!rest.empty()) {
    const std::string_view character = rest.substr(0, first_character(rest));
    rest.remove_prefix(character.size());
    const FcChar32 code = code_point(character);
    if (code < 0x80 || !is_seen(code) || !seen.insert(code).second) continue;
    if (!fonts) fonts = std::make_unique<Fonts>();
    if (!fonts->known()) return "";
    if (!fonts->has(code)) missing += character;
  }
  return missing;
}

}  // namespace heed
