#include "heed/explain/png.h"

#include <librsvg/rsvg.h>

#include <cmath>
#include <memory>

#include "heed/base/error.h"
#include "heed/base/shared_library.h"

namespace heed {
namespace {

constexpr double kLongestSide = 32767;  // Cairo's images are no larger
constexpr double kMostPixels = 1 << 27;
constexpr std::size_t kLargestDrawing = std::size_t{32} << 20;  // bytes of SVG; librsvg takes some 30 times as much

// What is called of librsvg and of the libraries that it brings. It is loaded when it is first needed, not with Heed:
// few programs draw a PNG, and all would load its fifty libraries.
struct Librsvg {
  decltype(&rsvg_handle_new_from_data) read = nullptr;
  decltype(&rsvg_handle_get_intrinsic_size_in_pixels) size = nullptr;
  decltype(&rsvg_handle_render_document) draw = nullptr;
  decltype(&g_object_unref) release = nullptr;
  decltype(&g_error_free) release_error = nullptr;
  decltype(&cairo_image_surface_create) image = nullptr;
  decltype(&cairo_surface_status) image_status = nullptr;
  decltype(&cairo_surface_destroy) release_image = nullptr;
  decltype(&cairo_surface_write_to_png_stream) write = nullptr;
  decltype(&cairo_create) pen = nullptr;
  decltype(&cairo_destroy) release_pen = nullptr;
  decltype(&cairo_set_source_rgb) colour = nullptr;
  decltype(&cairo_paint) paint = nullptr;

  static const Librsvg& loaded() {
    static const Librsvg library;
    return library;
  }

 private:
  Librsvg() {
    const SharedLibrary library("librsvg-2.so.2");
    require(static_cast<bool>(library),
            "[png] librsvg draws PNG files and is not here (Debian's package is librsvg2-2): {}", library.fault());
    const auto find = [&library](auto& function, const char* name) {
      require(library.find(function, name), "[png] this librsvg has no {}; 2.52 or newer is needed", name);
    };
    find(read, "rsvg_handle_new_from_data");
    find(size, "rsvg_handle_get_intrinsic_size_in_pixels");
    find(draw, "rsvg_handle_render_document");
    find(release, "g_object_unref");
    find(release_error, "g_error_free");
    find(image, "cairo_image_surface_create");
    find(image_status, "cairo_surface_status");
    find(release_image, "cairo_surface_destroy");
    find(write, "cairo_surface_write_to_png_stream");
    find(pen, "cairo_create");
    find(release_pen, "cairo_destroy");
    find(colour, "cairo_set_source_rgb");
    find(paint, "cairo_paint");
  }
};

// Throws what librsvg says if a call has failed.
void check(bool ok, GError* error, const char* what) {
  if (ok) return;
  const std::string message = error ? error->message : "no reason given";
  if (error) Librsvg::loaded().release_error(error);
  fail("[png] {}: {}", what, message);
}

cairo_status_t append(void* text, const unsigned char* bytes, unsigned int count) {
  static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

void check_png_size(double width, double height, const PngOptions& options) {
  const double across = std::ceil(width * options.scale), down = std::ceil(height * options.scale);
  require(across <= kLongestSide && down <= kLongestSide && across * down <= kMostPixels,
          "[png] a picture of {:.0f} × {:.0f} pixels cannot be drawn; it may have {:.0f} on a side and {:.0f} in all, "
          "and the scale is {:g}",
          across, down, kLongestSide, kMostPixels, options.scale);
}

std::string draw_png(std::string_view svg, const PngOptions& options) {
  require(svg.size() <= kLargestDrawing, "[png] a drawing of {} bytes of SVG is more than the {} that are drawn",
          svg.size(), kLargestDrawing);
  const Librsvg& library = Librsvg::loaded();
  GError* error = nullptr;
  const std::unique_ptr<RsvgHandle, decltype(library.release)> drawing(
      library.read(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error), library.release);
  check(drawing != nullptr, error, "this is no SVG drawing");
  double width = 0, height = 0;
  require(library.size(drawing.get(), &width, &height), "[png] the drawing does not say its size");
  require(width > 0 && height > 0 && options.scale > 0, "[png] there are no pixels in {:g} × {:g} at a scale of {:g}",
          width, height, options.scale);
  check_png_size(width, height, options);
  width = std::ceil(width * options.scale), height = std::ceil(height * options.scale);

  const std::unique_ptr<cairo_surface_t, decltype(library.release_image)> image(
      library.image(CAIRO_FORMAT_ARGB32, static_cast<int>(width), static_cast<int>(height)), library.release_image);
  require(library.image_status(image.get()) == CAIRO_STATUS_SUCCESS, "[png] no memory for {:.0f} × {:.0f} pixels",
          width, height);
  const std::unique_ptr<cairo_t, decltype(library.release_pen)> pen(library.pen(image.get()), library.release_pen);
  if (options.page != PngPage::transparent) {
    const double grey = options.page == PngPage::white ? 1 : 0.08;
    library.colour(pen.get(), grey, grey, grey);
    library.paint(pen.get());
  }
  const RsvgRectangle whole{0, 0, width, height};
  check(library.draw(drawing.get(), pen.get(), &whole, &error), error, "the drawing cannot be drawn");
  std::string bytes;
  require(library.write(image.get(), append, &bytes) == CAIRO_STATUS_SUCCESS, "[png] the picture cannot be written");
  return bytes;
}

}  // namespace heed
