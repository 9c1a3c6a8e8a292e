#include "heed/data/sound_matrices.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed {
namespace {

constexpr Index kMostNumbers = Index{1} << 28;

// The number at a place, which the caller has made sure of; `swapped` if it has the other byte order.
template <class T>
T read_number(std::string_view bytes, std::size_t at, bool swapped = false) {
  char raw[sizeof(T)];
  std::memcpy(raw, bytes.data() + at, sizeof(T));
  if (swapped) std::reverse(raw, raw + sizeof(T));
  return std::bit_cast<T>(raw);
}

// How many numbers a matrix of these sizes has, which are checked.
Index numbers_of(Index rows, Index columns, const std::string& name) {
  require(rows > 0 && columns > 0, "{}: it has {} frames of {} numbers", name, rows, columns);
  require(rows <= kMostNumbers / columns, "{}: {} frames of {} numbers are more than can be taken at once", name, rows,
          columns);
  return rows * columns;
}

void require_bytes(std::string_view bytes, std::size_t begin, std::size_t wanted, const std::string& name) {
  require(begin <= bytes.size() && wanted <= bytes.size() - begin, "{}: it is cut off: {} of {} bytes are there", name,
          bytes.size(), begin + wanted);
}

template <class T>
void copy_numbers(std::string_view bytes, std::size_t begin, bool swapped, Tensor& matrix) {
  for (Index i = 0; i < matrix.size(); ++i)
    matrix.data()[i] =
        static_cast<Real>(read_number<T>(bytes, begin + static_cast<std::size_t>(i) * sizeof(T), swapped));
}

// NumPy --------------------------------------------------------------------------------------------------------------

constexpr std::string_view kNumpyMagic = "\x93NUMPY";

// What stands behind 'key': in the header, up to the next comma or bracket that ends it.
std::string_view numpy_field(std::string_view header, std::string_view key, char end, const std::string& name) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  require(at != std::string_view::npos, "{}: its header has no {}", name, key);
  const std::string_view rest = header.substr(at + key.size() + 3);
  const std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
  return rest.substr(begin, rest.find(end, begin) - begin);
}

Tensor decode_numpy(std::string_view bytes, const std::string& name) {
  require_bytes(bytes, 0, 12, name);
  const bool first = bytes[6] == 1;  // the version says how long the length of the header is
  const std::size_t length = first ? read_number<std::uint16_t>(bytes, 8) : read_number<std::uint32_t>(bytes, 8);
  const std::size_t begin = (first ? 10 : 12) + length;
  require_bytes(bytes, 0, begin, name);
  const std::string_view header = bytes.substr(0, begin);
  const std::string_view type = numpy_field(header, "descr", ',', name);
  const bool wide = type.ends_with("f8'");
  require(wide || type.ends_with("f4'"), "{}: its numbers are {}, not floats of 32 or 64 bits", name, type);
  const std::string_view sizes = numpy_field(header, "shape", ')', name);
  long long rows = 0, columns = 0;
  const char* const end = sizes.data() + sizes.size();
  const auto [comma, row_fault] = std::from_chars(sizes.data() + std::min<std::size_t>(1, sizes.size()), end, rows);
  const char* const second = std::find_if(comma, end, [](char c) { return c != ',' && c != ' '; });
  const auto [last, column_fault] = std::from_chars(second, end, columns);
  require(row_fault == std::errc() && column_fault == std::errc() && last == end,
          "{}: its shape {}) is not [frames, width]", name, sizes);
  const bool by_column = numpy_field(header, "fortran_order", ',', name) == "True";
  require_bytes(bytes, begin, static_cast<std::size_t>(numbers_of(rows, columns, name)) * (wide ? 8 : 4), name);
  Tensor matrix(by_column ? Shape{columns, rows} : Shape{rows, columns});
  const bool swapped = type.find('>') != std::string_view::npos;
  if (wide)
    copy_numbers<double>(bytes, begin, swapped, matrix);
  else
    copy_numbers<float>(bytes, begin, swapped, matrix);
  return by_column ? matrix.transpose(0, 1).contiguous() : matrix;
}

// Kaldi --------------------------------------------------------------------------------------------------------------

constexpr std::string_view kBinaryMark("\0B", 2);

// The matrix behind a key that may be there, without the space around it.
std::string_view behind_key(std::string_view bytes) {
  const auto is_matrix = [](std::string_view rest) {
    const std::size_t begin = rest.find_first_not_of(" \n");
    return rest.starts_with(kBinaryMark) ||
           (begin != std::string_view::npos && rest[begin] == '[' && begin + 1 < rest.size() &&
            (rest[begin + 1] == ' ' || rest[begin + 1] == '\n'));
  };
  if (is_matrix(bytes)) return bytes;
  constexpr std::size_t kLongestKey = 4096;
  const std::size_t space = bytes.substr(0, kLongestKey).find_first_of(std::string_view(" \n\t\0", 4));
  if (space == std::string_view::npos || space == 0 || bytes[space] != ' ') return {};
  const std::string_view rest = bytes.substr(space + 1);
  return is_matrix(rest) ? rest : std::string_view{};
}

struct KaldiHeader {
  std::string kind;  // FM, DM, CM, CM2, CM3
  Index rows = 0, columns = 0;
  float least = 0, range = 0;       // of a compressed one
  std::size_t begin = 0, size = 0;  // of its numbers
};

KaldiHeader kaldi_header(std::string_view bytes, const std::string& name) {
  const std::size_t space = bytes.find(' ', kBinaryMark.size());
  KaldiHeader header;
  if (space != std::string_view::npos)
    header.kind = bytes.substr(kBinaryMark.size(), std::min<std::size_t>(space - 2, 8));
  const bool compressed = header.kind == "CM" || header.kind == "CM2" || header.kind == "CM3";
  require(compressed || header.kind == "FM" || header.kind == "DM",
          "{}: a Kaldi archive of {} is no matrix that can be read here (FM, DM, CM, CM2, CM3)", name,
          header.kind.empty() ? "nothing" : "another kind");
  std::size_t at = space + 1;
  const std::size_t sizes = compressed ? 16 : 10;
  require_bytes(bytes, at, sizes, name);
  if (compressed) {
    header.least = read_number<float>(bytes, at);
    header.range = read_number<float>(bytes, at + 4);
    header.rows = read_number<std::int32_t>(bytes, at + 8);
    header.columns = read_number<std::int32_t>(bytes, at + 12);
  } else {
    require(bytes[at] == 4 && bytes[at + 5] == 4, "{}: its sizes are not of 32 bits", name);
    header.rows = read_number<std::int32_t>(bytes, at + 1);
    header.columns = read_number<std::int32_t>(bytes, at + 6);
  }
  header.begin = at + sizes;
  const Index cells = numbers_of(header.rows, header.columns, name);
  const Index bytes_of_cells = header.kind == "DM"    ? 8 * cells
                               : header.kind == "FM"  ? 4 * cells
                               : header.kind == "CM2" ? 2 * cells
                               : header.kind == "CM"  ? cells + 8 * header.columns
                                                      : cells;
  header.size = static_cast<std::size_t>(bytes_of_cells);
  return header;
}

// A byte between four quantiles of its column: 0, 25, 75 and 100 percent at 0, 64, 192 and 255.
float between_quantiles(const float (&quantile)[4], unsigned char byte) {
  const auto value = static_cast<float>(byte);
  if (byte <= 64) return quantile[0] + (quantile[1] - quantile[0]) * value * (1 / 64.0F);
  if (byte <= 192) return quantile[1] + (quantile[2] - quantile[1]) * (value - 64) * (1 / 128.0F);
  return quantile[2] + (quantile[3] - quantile[2]) * (value - 192) * (1 / 63.0F);
}

// kaldi/src/matrix/compressed-matrix.cc: whole numbers over the range of all (CM2, CM3), or column by column (CM).
void decompress(std::string_view bytes, const KaldiHeader& header, Tensor& matrix) {
  const auto whole = [&](std::size_t at) {  // of 16 bits, over the range
    return header.least + header.range * (1 / 65535.0F) * static_cast<float>(read_number<std::uint16_t>(bytes, at));
  };
  if (header.kind != "CM") {
    for (Index i = 0; i < matrix.size(); ++i) {
      const auto at = header.begin + static_cast<std::size_t>(i) * (header.kind == "CM2" ? 2 : 1);
      matrix.data()[i] =
          header.kind == "CM2"
              ? whole(at)
              : header.least + header.range * (1 / 255.0F) * static_cast<float>(read_number<std::uint8_t>(bytes, at));
    }
    return;
  }
  const std::size_t cells = header.begin + 8 * static_cast<std::size_t>(header.columns);
  for (Index column = 0; column < header.columns; ++column) {
    float quantile[4];
    for (std::size_t i = 0; i < 4; ++i)
      quantile[i] = whole(header.begin + 8 * static_cast<std::size_t>(column) + 2 * i);
    for (Index row = 0; row < header.rows; ++row)
      matrix.data()[row * header.columns + column] = between_quantiles(
          quantile, read_number<std::uint8_t>(bytes, cells + static_cast<std::size_t>(column * header.rows + row)));
  }
}

Tensor decode_kaldi_text(std::string_view bytes, const std::string& name) {
  const std::size_t begin = bytes.find('['), end = bytes.find(']', begin);
  require(end != std::string_view::npos, "{}: it is cut off: its matrix has no end", name);
  std::string_view rest = bytes.substr(begin + 1, end - begin - 1);
  std::vector<Real> numbers;
  Index rows = 0, columns = 0;
  while (!rest.empty()) {
    const std::size_t line_end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, line_end);
    rest.remove_prefix(std::min(line_end + 1, rest.size()));
    const std::size_t before = numbers.size();
    for (std::size_t at = line.find_first_not_of(" \t\r"); at < line.size(); at = line.find_first_not_of(" \t\r", at)) {
      const std::size_t stop = std::min(line.find_first_of(" \t\r", at), line.size());
      double number = 0;
      const auto [last, fault] = std::from_chars(line.data() + at, line.data() + stop, number);
      require(fault == std::errc() && last == line.data() + stop, "{}: frame {} has something that is no number", name,
              rows);
      numbers.push_back(static_cast<Real>(number));
      at = stop;
    }
    const auto found = static_cast<Index>(numbers.size() - before);
    if (found == 0) continue;
    require(rows == 0 || found == columns, "{}: frame {} has {} numbers, the ones before it {}", name, rows, found,
            columns);
    columns = found;
    ++rows;
  }
  numbers_of(rows, columns, name);
  return Tensor(Shape{rows, columns}, std::span<const Real>(numbers));
}

Tensor decode_kaldi(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(kBinaryMark)) return decode_kaldi_text(bytes, name);
  const KaldiHeader header = kaldi_header(bytes, name);
  require_bytes(bytes, header.begin, header.size, name);
  Tensor matrix(Shape{header.rows, header.columns});
  if (header.kind == "FM")
    copy_numbers<float>(bytes, header.begin, false, matrix);
  else if (header.kind == "DM")
    copy_numbers<double>(bytes, header.begin, false, matrix);
  else
    decompress(bytes, header, matrix);
  return matrix;
}

// Sphinx -------------------------------------------------------------------------------------------------------------

// Whether its first number, in that byte order, is the count of the floats behind it.
bool is_sphinx(std::string_view bytes, bool swapped) {
  return bytes.size() > 4 && 4 * std::uint64_t{read_number<std::uint32_t>(bytes, 0, swapped)} + 4 == bytes.size();
}

Tensor decode_sphinx(std::string_view bytes, const std::string& name) {
  const auto count = static_cast<Index>(bytes.size() / 4 - 1);
  require(count % kSphinxWidth == 0, "{}: {} numbers are no whole frames of {}", name, count, kSphinxWidth);
  numbers_of(count / kSphinxWidth, kSphinxWidth, name);
  Tensor matrix(Shape{count / kSphinxWidth, kSphinxWidth});
  copy_numbers<float>(bytes, 4, !is_sphinx(bytes, false), matrix);
  return matrix;
}

}  // namespace

std::optional<Tensor> decode_matrix(std::string_view bytes, const std::string& name) {
  std::optional<Tensor> matrix;
  if (bytes.starts_with(kNumpyMagic))
    matrix = decode_numpy(bytes, name);
  else if (const std::string_view kaldi = behind_key(bytes); !kaldi.empty())
    matrix = decode_kaldi(kaldi, name);
  else if (is_sphinx(bytes, false) || is_sphinx(bytes, true))
    matrix = decode_sphinx(bytes, name);
  else
    require(!name.ends_with(".mfc"), "{}: it is no Sphinx file: its first number is not the count of those behind it",
            name);
  if (!matrix) return matrix;
  for (Index i = 0; i < matrix->size(); ++i)
    require(std::isfinite(matrix->data()[i]), "{}: frame {} has a number that is none", name, i / matrix->size(1));
  return matrix;
}

std::optional<ArchivePlace> archive_place(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string::npos || colon + 1 == name.size()) return {};
  std::size_t offset = 0;
  const auto [end, fault] = std::from_chars(name.data() + colon + 1, name.data() + name.size(), offset);
  if (fault != std::errc() || end != name.data() + name.size()) return {};
  return ArchivePlace{name.substr(0, colon), offset};
}

std::string read_archived(const ArchivePlace& place) {
  const std::string name = fmt::format("{}:{}", place.file, place.offset);
  const MappedFile file(place.file);
  const std::string_view all(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  require(place.offset < all.size(), "{}: the archive has {} bytes", name, all.size());
  const std::string_view bytes = all.substr(place.offset);
  if (!bytes.starts_with(kBinaryMark)) return std::string(bytes.substr(0, bytes.find(']') + 1));
  const KaldiHeader header = kaldi_header(bytes, name);
  return std::string(bytes.substr(0, header.begin + header.size));
}

}  // namespace heed
