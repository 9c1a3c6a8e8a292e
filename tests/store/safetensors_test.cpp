#include "heed/store/safetensors.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>

#include "support/temporary_folder.h"

// Runs in float and in double.

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReal = sizeof(Real) == 4 ? "F32" : "F64";

std::string error_or_none(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::byte> bytes_from(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

// A whole file: the length, the header as it is, then `data` zero bytes.
std::string file_text(std::string_view header, std::size_t data = 0) {
  const std::uint64_t length = header.size();
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  return text + std::string(header) + std::string(data, '\0');
}

std::string error_of_bytes(std::string_view bytes) {
  return error_or_none([&] { SafetensorsFile file(bytes_from(bytes), "x"); });
}
std::string error_of_header(std::string_view header, std::size_t data = 0) {
  return error_of_bytes(file_text(header, data));
}

fs::path reference(const std::string& name) { return fs::path(HEED_SOURCE_DIR) / "tests/store/data" / name; }

std::vector<NamedTensor> reference_tensors() {
  return {{"weight", Tensor(Shape{2, 3}, {-1, -0.5, 0, 0.5, 1, 1.5})},
          {"bias", Tensor(Shape{3}, {static_cast<Real>(1e-3), -2, 3.25})},
          {"größe \"1\"\n", Tensor::scalar(7)},
          {"empty", Tensor(Shape{0, 4})}};
}

void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  for (Index i = 0; i < a.size(); ++i) EXPECT_EQ(a.data()[i], b.data()[i]) << "at " << i;
}

TEST(Safetensors, WritesTheBytesOfTheReferenceImplementation) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.safetensors";
  save_safetensors(path, reference_tensors(), {{"author", "a \"test\""}});
  const char* same = sizeof(Real) == 4 ? "float.safetensors" : "double.safetensors";
  EXPECT_EQ(read_file(path), read_file(reference(same)));
}

TEST(Safetensors, ReadsTheReferenceImplementationsFilesInEitherPrecision) {
  for (const char* name : {"float.safetensors", "double.safetensors"}) {
    const SafetensorsFile file(reference(name));
    EXPECT_EQ(file.names(), (std::vector<std::string>{"bias", "empty", "größe \"1\"\n", "weight"}));
    EXPECT_EQ(file.metadata(), (Metadata{{"author", "a \"test\""}}));
    for (const NamedTensor& each : reference_tensors()) {
      if (each.name == "bias" && file.info("bias").dtype == Dtype::f32) {
        EXPECT_EQ(file.tensor("bias").data()[0], static_cast<Real>(1e-3F));
      } else {
        expect_same(file.tensor(each.name), each.tensor);
      }
    }
  }
  const SafetensorsFile none(reference("none.safetensors"));
  EXPECT_TRUE(none.names().empty());
  EXPECT_TRUE(none.metadata().empty());
}

TEST(Safetensors, ConvertsEveryFloatingType) {
  const SafetensorsFile file(reference("mixed.safetensors"));
  const auto infinity = std::numeric_limits<Real>::infinity();
  const Tensor half = file.tensor("f16");
  const Tensor expected(
      Shape{9}, {0, -0.0, 1, -1.5, 65504, static_cast<Real>(0x1p-24), static_cast<Real>(0x1p-14), infinity, -infinity});
  ASSERT_EQ(half.size(), 10);
  expect_same(half.slice(0, 0, 9), expected);
  EXPECT_TRUE(std::signbit(half.data()[1]));
  EXPECT_TRUE(std::isnan(half.data()[9]));
  expect_same(file.tensor("f32"), Tensor(Shape{3}, {1.5, -2.25, static_cast<Real>(3.4e38F)}));
  expect_same(file.tensor("f64"), Tensor(Shape{2}, {static_cast<Real>(0.1), static_cast<Real>(-1e-3)}));

  const SafetensorsFile brain(reference("brain.safetensors"));
  EXPECT_EQ(name_of(brain.info("bf16").dtype), "BF16");
  expect_same(brain.tensor("bf16"),
              Tensor(Shape{5}, {1, -2, static_cast<Real>(0x1.fep127), static_cast<Real>(0x1p-133), infinity}));
}

// Every half is what its bits say: the definition, in long form.
TEST(Safetensors, ConvertsEveryHalf) {
  std::string header = R"({"x":{"dtype":"F16","shape":[65536],"data_offsets":[0,131072]}})";
  std::string text = file_text(header);
  for (unsigned bits = 0; bits < 65536; ++bits) text += {static_cast<char>(bits & 255U), static_cast<char>(bits >> 8)};
  const Tensor x = SafetensorsFile(bytes_from(text), "x").tensor("x");
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31U);
    const double fraction = (bits & 1023U) / 1024.0, sign = bits & 0x8000U ? -1 : 1;
    const double value = exponent == 0    ? sign * std::ldexp(fraction, -14)
                         : exponent == 31 ? (fraction == 0 ? sign * HUGE_VAL : std::nan(""))
                                          : sign * std::ldexp(1 + fraction, exponent - 15);
    const double got = x.data()[bits];
    ASSERT_TRUE(std::isnan(value) ? std::isnan(got) : got == value && std::signbit(got) == std::signbit(value)) << bits;
  }
}

TEST(Safetensors, ListsIntegersAndReadsIds) {
  const SafetensorsFile file(reference("mixed.safetensors"));
  EXPECT_EQ(name_of(file.info("i8").dtype), "I8");
  EXPECT_EQ(file.info("bool").bytes, 3u);
  EXPECT_EQ(file.info("i16").bytes, 4u);
  const Ids small = file.ids("i32");
  EXPECT_EQ(small.shape(), (Shape{2, 2}));
  EXPECT_EQ(small.at({1, 1}), 2147483647);
  const Ids large = file.ids("i64");
  EXPECT_EQ(large.at({1}), -2147483647 - 1);
  const std::string name = reference("mixed.safetensors").string();
  EXPECT_EQ(error_or_none([&] { file.ids("i64_large"); }),
            name + ": tensor \"i64_large\" holds 2147483648, which does not fit 32 bits");
  EXPECT_EQ(error_or_none([&] { file.ids("f32"); }),
            name + ": tensor \"f32\" is F32; only I32 and I64 can be read as ids");
  EXPECT_EQ(error_or_none([&] { file.tensor("i64"); }),
            name + ": tensor \"i64\" is I64; only F16, BF16, F32 and F64 can be read as real numbers");
  EXPECT_EQ(error_or_none([&] { file.tensor("no\x1b[31m"); }), name + ": there is no tensor \"no\\x1b[31m\"");
  EXPECT_EQ(error_or_none([&] { file.info("no"); }), name + ": there is no tensor \"no\"");
  EXPECT_FALSE(file.contains("no"));
}

TEST(Safetensors, AViewOutlivesTheFileAndKeepsWritesToItself) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.safetensors";
  save_safetensors(path, reference_tensors());
  Tensor weight;
  {
    const SafetensorsFile file(path);
    weight = file.tensor("weight");
    EXPECT_EQ(static_cast<const Tensor&>(weight).data(), file.tensor("weight").data());  // no copy was made
  }
  weight.data()[0] = 42;
  fs::remove(path);
  EXPECT_EQ(weight.at({0, 0}), 42);
  EXPECT_EQ(weight.at({1, 2}), 1.5);

  save_safetensors(path, reference_tensors());
  Tensor again = SafetensorsFile(path).tensor("weight");
  again.data()[0] = 42;
  EXPECT_EQ(SafetensorsFile(path).tensor("weight").at({0, 0}), -1);
}

TEST(Safetensors, ReadsNumbersThatAreNotAligned) {
  std::string header =
      fmt::format(R"({{"x":{{"dtype":"{}","shape":[2],"data_offsets":[0,{}]}}}})", kReal, 2 * sizeof(Real));
  while (header.size() % 8 != 1) header += ' ';
  const std::array<Real, 2> values{1.5, -3};
  std::string text = file_text(header) + std::string(reinterpret_cast<const char*>(values.data()), sizeof(values));
  const SafetensorsFile file(bytes_from(text), "x");
  expect_same(file.tensor("x"), Tensor(Shape{2}, {1.5, -3}));
}

TEST(Safetensors, WritesViewsInRowMajorOrderAndReplacesTheOldFile) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.safetensors";
  save_safetensors(path, {});
  EXPECT_TRUE(SafetensorsFile(path).names().empty());
  const Tensor x(Shape{2, 3}, {0, 1, 2, 3, 4, 5});
  const std::vector<NamedTensor> tensors{{"t", x.transpose(0, 1)}, {"s", x.slice(1, 1, 2)}};
  save_safetensors(path, tensors);
  const SafetensorsFile file(path);
  expect_same(file.tensor("t"), Tensor(Shape{3, 2}, {0, 3, 1, 4, 2, 5}));
  expect_same(file.tensor("s"), Tensor(Shape{2, 1}, {1, 4}));
}

TEST(Safetensors, RefusesToWriteWhatItCouldNotRead) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.safetensors";
  const auto error_of_saving = [&](std::vector<NamedTensor> tensors, Metadata metadata = {}) {
    return error_or_none([&] { save_safetensors(path, tensors, metadata); });
  };
  const Tensor x(Shape{1}, 0);
  EXPECT_EQ(error_of_saving({{"a", x}, {"b", x}, {"a", x}}), path.string() + ": two tensors are called \"a\"");
  EXPECT_EQ(error_of_saving({{"__metadata__", x}}), path.string() + ": a tensor may not be called __metadata__");
  EXPECT_EQ(error_of_saving({{"a", Tensor()}}), path.string() + ": tensor \"a\" has no memory");
  EXPECT_NE(error_of_saving({{"a\xff", x}}).find("cannot be written: "), std::string::npos);
  EXPECT_NE(error_of_saving({{"a", x}}, {{"k", "\xc3"}}).find("cannot be written: "), std::string::npos);
  // Six bytes each in JSON.
  EXPECT_EQ(error_of_saving({{"a", x}}, {{"k", std::string(16'700'000, '\x01')}}),
            path.string() + ": its header would have 100200080 bytes, more than the format's 100000000");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

RC_GTEST_PROP(Safetensors, GivesBackWhatWasSaved, (const std::map<std::string, std::vector<std::uint8_t>>& drawn)) {
  const TemporaryFolder folder;
  std::vector<NamedTensor> tensors;
  Metadata metadata;
  for (const auto& [raw, sizes] : drawn) {
    std::string name;  // any ASCII, control characters and quotes included
    for (const char c : raw) name += static_cast<char>(c & 127);
    if (metadata.contains(name)) continue;
    metadata[name] = name + name;
    std::vector<Index> axes;
    for (std::size_t i = 0; i < sizes.size() && i < 4; ++i) axes.push_back(sizes[i] % 5);
    Tensor x{Shape(axes)};
    for (Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<Real>(i) - static_cast<Real>(tensors.size());
    tensors.push_back({name, x});
  }
  save_safetensors(folder.path() / "a", tensors, metadata);
  const SafetensorsFile file(folder.path() / "a");
  RC_ASSERT(file.names().size() == tensors.size());
  RC_ASSERT(file.metadata() == metadata);
  for (const NamedTensor& each : tensors) {
    const Tensor got = file.tensor(each.name);
    RC_ASSERT(got.shape() == each.tensor.shape());
    RC_ASSERT(std::equal(got.values().begin(), got.values().end(), each.tensor.values().begin()));
  }
}

// Bad files --------------------------------------------------------------------------------------------------------

TEST(SafetensorsErrors, FilesThatAreNotThere) {
  EXPECT_EQ(error_or_none([] { SafetensorsFile file("/no/such"); }),
            "/no/such: cannot open it: No such file or directory");
  EXPECT_EQ(error_or_none([] { SafetensorsFile file("/"); }), "/: it is a directory, not a file");
}

TEST(SafetensorsErrors, Length) {
  EXPECT_EQ(error_of_bytes(""), "x: not a safetensors file: 0 bytes are too few");
  EXPECT_EQ(error_of_bytes("1234567"), "x: not a safetensors file: 7 bytes are too few");
  EXPECT_EQ(error_of_bytes(std::string(8, '\0')),
            "x: not a safetensors file: its header of 0 bytes does not begin with {");
  EXPECT_EQ(error_of_bytes(std::string("\x03\0\0\0\0\0\0\0{}", 10)),
            "x: not a safetensors file: its header of 3 bytes is longer than the 2 bytes left");
  EXPECT_EQ(error_of_bytes(std::string(8, '\xff') + "{}"),
            "x: not a safetensors file: its header of 18446744073709551615 bytes is longer than the 2 bytes left");
  EXPECT_EQ(error_of_header("[]"), "x: not a safetensors file: its header of 2 bytes does not begin with {");
  EXPECT_EQ(error_of_header("\xef\xbb\xbf{}"),
            "x: not a safetensors file: its header of 5 bytes does not begin with {");
  EXPECT_EQ(error_of_header("{" + std::string(100'000'000, ' ')),
            "x: not a safetensors file: its header of 100000001 bytes is longer than 100000000");
}

TEST(SafetensorsErrors, ForeignFilesAreNamed) {
  const auto guess = [](std::string start) {
    const std::string error = error_of_bytes(start.append(40, '\x11'));
    const std::size_t at = error.find("; ");
    return at == std::string::npos ? error : error.substr(at + 2);
  };
  EXPECT_EQ(guess("PK\x03\x04"), "it seems to be a zip archive, such as a PyTorch checkpoint or a NumPy .npz");
  EXPECT_EQ(guess("\x80\x02"), "it seems to be a Python pickle, such as an old PyTorch checkpoint");
  EXPECT_EQ(guess("\x1f\x8b"), "it seems to be compressed with gzip");
  EXPECT_EQ(guess("GGUF"), "it seems to be a GGUF model");
  EXPECT_EQ(guess("{\"a\": 1"), "it seems to be JSON text");
  EXPECT_EQ(guess("version https://git-lfs.github.com/spec/v1"),
            "it seems to be a Git LFS pointer, which stands for a file that was not fetched");
}

TEST(SafetensorsErrors, Json) {
  const auto starts = [](const std::string& error, const std::string& start) {
    EXPECT_EQ(error.substr(0, start.size()), start);
  };
  starts(error_of_header("{"), "x: its header is not JSON, seen at its byte 2: ");
  starts(error_of_header("{}x"), "x: its header is not JSON, seen at its byte 3: ");
  starts(error_of_header("{'a':1}"), "x: its header is not JSON, seen at its byte 2: ");
  starts(error_of_header("{\"a\xff\":{}}"), "x: its header is not JSON, seen at its byte 4: ");
  EXPECT_EQ(error_of_header(std::string("{}\0{", 4)), "x: its header is not JSON: a zero byte stands at its byte 3");
  starts(error_of_header(R"({"x":{"shape":[1e999]}})"), "x: its header is not JSON, seen at its byte ");
  EXPECT_NE(error_of_header("{\"a\xff\":{}}").find("ill-formed UTF-8"), std::string::npos);
  EXPECT_NE(error_of_header(R"({"x":{"shape":[1e999]}})").find("number overflow"), std::string::npos);
}

TEST(SafetensorsErrors, DeepNestingEndsAtOnce) {
  const std::string deep = R"({"a":)" + std::string(10'000'000, '[');
  EXPECT_EQ(error_of_header(deep), "x: tensor \"a\" must be an object, not an array");
  std::string objects = "{";
  for (int i = 0; i < 1'000'000; ++i) objects += R"("a":{)";
  EXPECT_EQ(error_of_header(objects), "x: tensor \"a\" has the unknown field \"a\"");
}

TEST(SafetensorsErrors, Structure) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"a":1})", R"(tensor "a" must be an object, not 1)"},
      {R"({"a":null})", R"(tensor "a" must be an object, not null)"},
      {R"({"a":{}})", R"(tensor "a" has no dtype)"},
      {R"({"a":{"dtype":"F32"}})", R"(tensor "a" has no shape)"},
      {R"({"a":{"dtype":"F32","shape":[0]}})", R"(tensor "a" has no data_offsets)"},
      {R"({"a":{"dtype":"F31"}})", R"(tensor "a" has the unknown dtype "F31")"},
      {R"({"a":{"dtype":"f32"}})", R"(tensor "a" has the unknown dtype "f32")"},
      {R"({"a":{"dtype":7}})", R"(the dtype of tensor "a" must be text, not 7)"},
      {R"({"a":{"dtype":["F32"]}})", R"(the dtype of tensor "a" must be text, not an array)"},
      {R"({"a":{"shape":3}})", R"(the shape of tensor "a" must be an array, not 3)"},
      {R"({"a":{"shape":{}}})", R"(the shape of tensor "a" must be an array, not an object)"},
      {R"({"a":{"shape":[-1]}})", R"(the shape of tensor "a" must be whole numbers from 0, not -1)"},
      {R"({"a":{"shape":[1.5]}})", R"(the shape of tensor "a" must be whole numbers from 0, not "1.5")"},
      {R"({"a":{"shape":["1"]}})", R"(the shape of tensor "a" must be whole numbers from 0, not "1")"},
      {R"({"a":{"shape":[true]}})", R"(the shape of tensor "a" must be whole numbers from 0, not true)"},
      {R"({"a":{"shape":[[1]]}})", R"(the shape of tensor "a" must be whole numbers from 0, not an array)"},
      {R"({"a":{"shape":[9223372036854775808]}})", R"(tensor "a" has the impossible size 9223372036854775808)"},
      {R"({"a":{"shape":[18446744073709551616]}})",
       R"(the shape of tensor "a" must be whole numbers from 0, not "18446744073709551616")"},
      {R"({"a":{"shape":[1,1,1,1,1,1,1]}})", R"(tensor "a" has more than 6 axes)"},
      {R"({"a":{"data_offsets":[0]}})", R"(tensor "a" has 1 data_offsets instead of 2)"},
      {R"({"a":{"data_offsets":[0,0,0]}})", R"(tensor "a" has more than 2 data_offsets)"},
      {R"({"a":{"data_offsets":[0,-4]}})", R"(the data_offsets of tensor "a" must be whole numbers from 0, not -4)"},
      {R"({"a":{"data_offsets":"0,4"}})", R"(the data_offsets of tensor "a" must be an array, not "0,4")"},
      {R"({"a":{"code":"x"}})", R"(tensor "a" has the unknown field "code")"},
      {R"({"a":{"dtype":"F32","dtype":"F32"}})", R"(tensor "a" has dtype twice)"},
      {R"({"a":{"shape":[],"shape":[]}})", R"(tensor "a" has shape twice)"},
      {R"({"__metadata__":[]})", R"(the metadata must be an object, not an array)"},
      {R"({"__metadata__":{"k":1}})", R"(the metadata "k" must be text, not 1)"},
      {R"({"__metadata__":{"k":{}}})", R"(the metadata "k" must be text, not an object)"},
      {R"({"__metadata__":{"k":"1","k":"2"}})", R"(the metadata has "k" twice)"},
      {R"({"__metadata__":{},"__metadata__":{}})", R"(its header has __metadata__ twice)"},
  };
  for (const auto& [header, error] : cases) EXPECT_EQ(error_of_header(header, 8), "x: " + error) << header;
}

std::string item(const char* name, const char* dtype, const char* shape, const char* offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, dtype, shape, offsets);
}

TEST(SafetensorsErrors, Ranges) {
  const auto error = [](const std::string& items, std::size_t data) {
    return error_of_header("{" + items + "}", data);
  };
  EXPECT_EQ(error(item("a", "F32", "[1]", "[0,4]"), 4), "no error");
  EXPECT_EQ(error(item("a", "F32", "[1]", "[0,4]"), 3),
            R"(x: tensor "a" has data_offsets 0..4 outside the 3 bytes of data)");
  EXPECT_EQ(error(item("a", "F32", "[1]", "[4,0]"), 8),
            R"(x: tensor "a" has data_offsets 4..0 outside the 8 bytes of data)");
  EXPECT_EQ(error(item("a", "F32", "[1]", "[18446744073709551612,18446744073709551615]"), 8),
            R"(x: tensor "a" has data_offsets 18446744073709551612..18446744073709551615 outside the 8 bytes of data)");
  EXPECT_EQ(error(item("a", "F32", "[2]", "[0,4]"), 4),
            R"(x: tensor "a" of F32 [2] needs 8 bytes, but its data_offsets 0..4 hold 4)");
  EXPECT_EQ(error(item("a", "F16", "[2,3]", "[0,24]"), 24),
            R"(x: tensor "a" of F16 [2, 3] needs 12 bytes, but its data_offsets 0..24 hold 24)");
  EXPECT_EQ(error(item("a", "F32", "[1]", "[0,4]"), 6),
            "x: its tensors end at byte 4 of the data, but 6 bytes follow the header");
  EXPECT_EQ(error("", 1), "x: its tensors end at byte 0 of the data, but 1 bytes follow the header");
  EXPECT_EQ(error(item("a", "F32", "[4294967296,4294967296]", "[0,0]"), 0),
            R"(x: tensor "a": [shape] the number of elements of [4294967296, 4294967296] overflows)");
  // 2^62 elements of 4 bytes are 0 bytes modulo 2^64.
  EXPECT_EQ(error(item("a", "F32", "[4611686018427387904]", "[0,0]"), 0),
            R"(x: tensor "a": [shape] the number of elements of [4611686018427387904] overflows)");

  const std::string a = item("a", "F32", "[1]", "[0,4]");
  EXPECT_EQ(error(a + "," + item("b", "F32", "[1]", "[4,8]"), 8), "no error");
  EXPECT_EQ(error(item("b", "F32", "[1]", "[4,8]") + "," + a, 8), "no error");  // any order in the header
  EXPECT_EQ(error(item("z", "F32", "[0]", "[4,4]") + "," + a + "," + item("b", "F32", "[1]", "[4,8]"), 8), "no error");
  EXPECT_EQ(error(a + "," + item("b", "U8", "[4]", "[2,6]"), 6),
            R"(x: tensor "b" begins at byte 2 of the data, overlapping it: before the end of the one before, 4)");
  EXPECT_EQ(error(a + "," + item("b", "F32", "[1]", "[0,4]"), 4),
            R"(x: tensor "b" begins at byte 0 of the data, overlapping it: before the end of the one before, 4)");
  EXPECT_EQ(error(a + "," + item("b", "F32", "[1]", "[6,10]"), 10),
            R"(x: tensor "b" begins at byte 6 of the data, leaving a hole: after the end of the one before, 4)");
  EXPECT_EQ(error(a + "," + item("a", "F32", "[1]", "[4,8]"), 8), R"(x: its header has tensor "a" twice)");
  EXPECT_EQ(error(a + "," + item("\\u0061", "F32", "[1]", "[4,8]"), 8), R"(x: its header has tensor "a" twice)");
}

TEST(SafetensorsErrors, LongAndHostileNamesAreShortenedAndEscaped) {
  const std::string error = error_of_header("{\"\\u001b[2J" + std::string(5000, 'n') + "\":1}");
  EXPECT_EQ(error, "x: tensor \"\\x1b[2J" + std::string(96, 'n') + "\"… must be an object, not 1");
}

TEST(SafetensorsErrors, EveryTruncationIsAnError) {
  const std::string whole = read_file(reference("mixed.safetensors"));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(error_of_bytes(whole.substr(0, size)), "no error") << size;
  EXPECT_EQ(error_of_bytes(whole), "no error");
  EXPECT_NE(error_of_bytes(whole + "x"), "no error");
}

}  // namespace
}  // namespace heed
