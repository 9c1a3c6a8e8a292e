#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "heed/base/base64.h"
#include "heed/base/file.h"
#include "heed/data/images/image.h"
#include "heed/data/sample.h"
#include "support/messages.h"

namespace heed {
namespace {

using test::message_of;

// Pictures of tests/reference/make_images.py.
std::string file_of(const std::string& name) {
  return read_file(std::string(HEED_SOURCE_DIR "/tests/fuzz/image/") + name);
}
Tensor picture(const std::string& name) { return decode_value(Kind::image, file_of(name), name).numbers; }

constexpr Index kHeight = 8, kWidth = 12;
Real red(Index x) { return static_cast<Real>(x) / (kWidth - 1); }
Real green(Index y) { return static_cast<Real>(y) / (kHeight - 1); }
Real grey(Index y, Index x) { return Real(0.299) * red(x) + Real(0.587) * green(y) + Real(0.114) * Real(0.2); }

// Compares every pixel with colour(y, x), an array of three.
template <class Colour>
void expect_pixels(const std::string& name, double tolerance, const Colour& colour) {
  const Tensor pixels = picture(name);
  ASSERT_EQ(pixels.shape(), (Shape{kHeight, kWidth, 3})) << name;
  for (Index y = 0; y < kHeight; ++y)
    for (Index x = 0; x < kWidth; ++x)
      for (Index c = 0; c < 3; ++c)
        ASSERT_NEAR(pixels.at({y, x, c}), colour(y, x)[static_cast<std::size_t>(c)], tolerance)
            << name << " at " << y << ", " << x << ", " << c;
}
std::array<Real, 3> colour(Index y, Index x) { return {red(x), green(y), Real(0.2)}; }

Tensor noise(Index height, Index width) {
  Tensor pixels(Shape{height, width, 3});
  for (Index i = 0; i < pixels.size(); ++i)
    pixels.data()[i] = static_cast<Real>((static_cast<std::uint32_t>(i) * 2654435761U >> 8) % 1000) / 1000;
  return pixels;
}
double mean(const Tensor& pixels) {
  return std::accumulate(pixels.values().begin(), pixels.values().end(), 0.0) / static_cast<double>(pixels.size());
}

TEST(Images, ShowTheSameWhateverTheyAreStoredAs) {
  for (const char* name : {"colour.png", "lossless.webp"}) expect_pixels(name, 0.5 / 255 + 1e-6, colour);
  for (const char* name : {"colour.jpg", "progressive.jpg", "palette.png"}) expect_pixels(name, 0.05, colour);
  expect_pixels("colour.webp", 0.15, colour);  // stores the colours of four pixels as one
}

TEST(Images, AreTurnedUpright) {
  for (int orientation = 2; orientation <= 8; ++orientation)
    expect_pixels("turned" + std::to_string(orientation) + ".jpg", 0.05, colour);
  for (const char* name : {"turned6.png", "turned6.webp"}) expect_pixels(name, 0.5 / 255 + 1e-6, colour);
}

TEST(Images, OfOneColourAreGrey) {
  const auto of = [](Index y, Index x) { return std::array<Real, 3>{grey(y, x), grey(y, x), grey(y, x)}; };
  expect_pixels("grey.png", 1.5 / 255, of);
  expect_pixels("grey.jpg", 3.0 / 255, of);
}

TEST(Images, OfSixteenBitsKeepTheirBrightness) {
  expect_pixels("deep.png", 0.5 / 255 + 1e-6, [](Index y, Index) {
    return std::array<Real, 3>{green(y), green(y), green(y)};
  });
}

TEST(Images, OfTwoColoursAreBlackAndWhite) {
  for (const Real value : picture("two.png").values()) EXPECT_TRUE(value == 0 || value == 1) << value;
}

TEST(Images, OfInkShowTheLightThatItLeaves) { expect_pixels("ink.jpg", 0.05, colour); }

TEST(Images, LieOnWhiteWhereTheyAreClear) {
  for (const char* name : {"clear.png", "clear.webp"})
    expect_pixels(name, 1.0 / 255, [](Index y, Index x) {
      std::array<Real, 3> seen = colour(y, x);
      if (red(x) >= Real(0.5))
        for (Real& value : seen) value = Real(0.2) * value + Real(0.8);
      return seen;
    });
}

TEST(Images, ThatAreCutShortAreErrorsThatNameThem) {
  for (const char* name : {"colour.jpg", "progressive.jpg", "colour.png", "colour.webp", "lossless.webp"}) {
    const std::string whole = file_of(name);
    for (std::size_t length = 0; length + 8 < whole.size(); length += length < 40 ? 1 : 7) {
      const std::string message =
          message_of([&] { decode_value(Kind::image, std::string_view(whole).substr(0, length), name); });
      EXPECT_TRUE(message.starts_with(std::string(name) + ": ")) << length << ": " << message;
    }
  }
}

TEST(Images, OfNoKindAreErrors) {
  EXPECT_EQ(message_of([] { decode_value(Kind::image, "a dog runs", "dog.jpg"); }),
            "dog.jpg: it is no image that can be read here");
  EXPECT_EQ(message_of([] { decode_value(Kind::image, file_of("animated.webp"), "a.webp"); }),
            "a.webp: this WebP is animated; give one of its pictures");
}

TEST(Images, AreRefusedByTheirSizeBeforeTheyAreDecoded) {
  std::string file = file_of("colour.jpg");
  const std::size_t frame = file.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  file.replace(frame + 5, 4, "\x75\x30\x75\x30");  // 30,000 × 30,000
  EXPECT_EQ(message_of([&] { decode_value(Kind::image, file, "huge.jpg"); }),
            "huge.jpg: the picture is too large: 30000 × 30000 pixels, of which 50000000 are read at most");
}

TEST(Images, MayBeOnePixel) {
  const Tensor pixel(Shape{1, 1, 3}, {1, 0, Real(0.2)});
  const Tensor read = decode_value(Kind::image, png_of(pixel), "one.png").numbers;
  EXPECT_EQ(read.shape(), (Shape{1, 1, 3}));
  EXPECT_NEAR(read.at({0, 0, 2}), 0.2, 1e-6);
  const Tensor large = resize(read, 7, 5);
  for (Index i = 0; i < 35; ++i) EXPECT_NEAR(large.data()[i * 3 + 2], 0.2, 1e-6);
}

TEST(Images, AreWrittenAndReadAgain) {
  const Tensor pixels = picture("colour.png");
  const Tensor png = decode_value(Kind::image, png_of(pixels), "x").numbers;
  EXPECT_TRUE(std::equal(png.values().begin(), png.values().end(), pixels.values().begin()));
  const Tensor jpeg = decode_value(Kind::image, jpeg_of(pixels, 95), "x").numbers;
  ASSERT_EQ(jpeg.shape(), pixels.shape());
  EXPECT_NEAR(mean(jpeg), mean(pixels), 0.02);
}

TEST(Images, HaveSmallPreviews) {
  constexpr std::string_view kBeginning = "data:image/jpeg;base64,";
  const std::string url = preview_of(noise(30, 60), 20);
  ASSERT_TRUE(url.starts_with(kBeginning));
  const auto bytes = from_base64(std::string_view(url).substr(kBeginning.size()));
  ASSERT_TRUE(bytes);
  EXPECT_EQ(decode_value(Kind::image, *bytes, "x").numbers.shape(), (Shape{10, 20, 3}));
}

TEST(Images, KeepTheirColourInEverySize) {
  const Tensor plain(Shape{13, 17, 3}, Real(0.37));
  for (const auto& [height, width] : {std::pair<Index, Index>{5, 40}, {1, 1}, {13, 16}, {90, 3}}) {
    const Tensor resized = resize(plain, height, width);
    ASSERT_EQ(resized.shape(), (Shape{height, width, 3}));
    for (const Real value : resized.values()) ASSERT_NEAR(value, 0.37, 1e-6);
  }
}

TEST(Images, KeepTheirMeanAndSlopeWhenResized) {
  const Tensor pixels = noise(64, 96);
  for (const auto& [height, width] : {std::pair<Index, Index>{32, 24}, {128, 96}, {20, 31}})
    EXPECT_NEAR(mean(resize(pixels, height, width)), mean(pixels), 0.01) << height << " × " << width;
  // A slope stays one, away from the edges.
  Tensor slope(Shape{4, 64, 3});
  for (Index i = 0; i < slope.size(); ++i) slope.data()[i] = static_cast<Real>(i / 3 % 64) / 64;
  const Tensor half = resize(slope, 4, 32);
  for (Index x = 4; x < 28; ++x) EXPECT_NEAR(half.at({2, x, 1}), (2 * x + Real(0.5)) / 64, 1e-5);
}

TEST(Images, DoNotAliasWhenTheyShrink) {
  Tensor board(Shape{64, 64, 3});
  for (Index i = 0; i < board.size(); ++i) board.data()[i] = static_cast<Real>((i / 3 % 64 + i / (3 * 64)) % 2);
  const Tensor small = resize(board, 9, 9);
  for (const Real value : small.values()) EXPECT_NEAR(value, 0.5, 0.02);
}

TEST(Images, InLinesAreResizedInLittleMemory) {
  EXPECT_EQ(resize(Tensor(Shape{1, 4'000'000, 3}, Real(0.5)), 224, 224).shape(), (Shape{224, 224, 3}));
}

}  // namespace
}  // namespace heed
