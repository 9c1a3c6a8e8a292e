#include "heed/explain/png.h"

#include <gtest/gtest.h>
#include <png.h>

#include <array>
#include <cstring>

#include "heed/explain/svg.h"
#include "heed/explain/svg_parts.h"
#include "support/messages.h"

namespace heed::test {
namespace {

struct Image {
  png_uint_32 width = 0, height = 0;
  std::vector<std::array<std::uint8_t, 4>> pixels;

  std::array<std::uint8_t, 4> at(double x, double y) const {
    return pixels[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)];
  }
};

Image read_png(const std::string& bytes) {
  png_image file;
  std::memset(&file, 0, sizeof file);
  file.version = PNG_IMAGE_VERSION;
  Image image;
  EXPECT_TRUE(png_image_begin_read_from_memory(&file, bytes.data(), bytes.size())) << file.message;
  file.format = PNG_FORMAT_RGBA;
  image.width = file.width, image.height = file.height;
  image.pixels.resize(std::size_t{file.width} * file.height);
  EXPECT_TRUE(png_image_finish_read(&file, nullptr, image.pixels.data(), 0, nullptr)) << file.message;
  return image;
}

std::array<std::uint8_t, 4> rgba(const std::string& colour) {
  const auto part = [&](std::size_t at) {
    return static_cast<std::uint8_t>(std::stoi(colour.substr(at, 2), nullptr, 16));
  };
  return {part(1), part(3), part(5), 255};
}

using Pixel = std::array<std::uint8_t, 4>;

constexpr const char* kSquare =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 10 6\" width=\"10\" height=\"6\">"
    "<rect x=\"2\" y=\"2\" width=\"3\" height=\"3\" fill=\"#ff8000\"/></svg>";

TEST(DrawPng, HasTheDrawingsPixels) {
  const Image image = read_png(draw_png(kSquare, {.scale = 3}));
  ASSERT_EQ(image.width, 30U);
  ASSERT_EQ(image.height, 18U);
  EXPECT_EQ(image.at(10, 10), (Pixel{255, 128, 0, 255}));
  EXPECT_EQ(image.at(1, 1), (Pixel{255, 255, 255, 255}));
  EXPECT_EQ(read_png(draw_png(kSquare, {.page = PngPage::transparent})).at(1, 1)[3], 0);
  EXPECT_LT(read_png(draw_png(kSquare, {.page = PngPage::dark})).at(1, 1)[0], 40);
}

TEST(DrawPng, TheMatrixHasItsCellsAndItsLabels) {
  const std::string svg =
      draw_matrix_svg({"", {"le", "chat"}, {"the", "cat"}, Tensor(Shape{2, 2}, {0.75F, 0.25F, 0, 1})});
  const Image image = read_png(draw_png(svg, {.scale = 1}));
  // The first cell, where the SVG has it.
  const std::size_t cell = svg.find("<rect x=\"");
  const double x = std::stod(svg.substr(cell + 9)), y = std::stod(svg.substr(svg.find("y=\"", cell) + 3));
  EXPECT_EQ(image.at(x + 11, y + 11), rgba(weight_colour(0.75)));
  EXPECT_EQ(image.at(x + 33, y + 11), rgba(weight_colour(0.25)));
  EXPECT_EQ(image.at(x + 11, y + 33), rgba(weight_colour(0)));
  EXPECT_EQ(image.at(x + 33, y + 33), rgba(weight_colour(1)));
  std::size_t written = 0;  // left of the matrix are words in grey
  for (double up = y; up < y + 44; ++up)
    for (double across = 0; across < x - 2; ++across) written += image.at(across, up)[0] < 200 ? 1 : 0;
  EXPECT_GT(written, 30U);
}

TEST(DrawPng, APreviewIsDrawn) {
  // One pixel, blue, which is shown as it is where a word looks and darker elsewhere.
  const std::string url =
      "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYPgPAAEDAQAIicLsAA"
      "AAAElFTkSuQmCC";
  const auto centre = [&url](Real weight) {
    const std::string svg = draw_regions_svg({"", {"a"}, 1, 1, url, Tensor(Shape{1, 1}, weight)});
    return read_png(draw_png(svg, {.scale = 1})).at(80, 100);
  };
  EXPECT_EQ(centre(1), (Pixel{0, 0, 255, 255}));
  EXPECT_LT(centre(0)[2], 128);
}

TEST(DrawPng, ErrorsSayWhatIsWrong) {
  EXPECT_TRUE(message_of([] { draw_png("<svg"); }).starts_with("[png] this is no SVG drawing: "));
  EXPECT_EQ(message_of([] { draw_png(kSquare, {.scale = 5000}); }),
            "[png] a picture of 50000 × 30000 pixels cannot be drawn; it may have 32767 on a side and 134217728 in "
            "all, and the scale is 5000");
  EXPECT_EQ(message_of([] { check_png_size(10'000, 8'000); }),
            "[png] a picture of 20000 × 16000 pixels cannot be drawn; it may have 32767 on a side and 134217728 in "
            "all, and the scale is 2");
  EXPECT_EQ(message_of([] { draw_png(kSquare, {.scale = 0}); }), "[png] there are no pixels in 10 × 6 at a scale of 0");
}

}  // namespace
}  // namespace heed::test
