#include <algorithm>
#include <optional>
#include <utility>

#include "heed/base/error.h"
#include "heed/data/sample_files.h"

namespace heed {
namespace {

// The cells of one record of a table.
struct Row {
  std::vector<std::string> cells;
  std::string fault;
  Index line = 0;  // where it begins
};

bool read_tsv(FileLines& lines, Row& row) {
  std::string line;
  if (!lines.next(line)) return false;
  row.line = lines.number();
  const std::vector<std::string_view> cells = columns_of_line(line);
  row.cells.assign(cells.begin(), cells.end());
  return true;
}

// RFC 4180: a cell in quotes may hold commas, line ends, and quotes that are written twice. A quote inside a cell that
// does not begin with one stands for itself.
bool read_csv(FileLines& lines, Row& row) {
  std::string line;
  if (!lines.next(line)) return false;
  row.line = lines.number();
  std::size_t size = line.size(), at = 0;
  while (true) {
    std::string& cell = row.cells.emplace_back();
    if (at < line.size() && line[at] == '"') {
      for (++at;;) {
        const std::size_t quote = line.find('"', at);
        cell.append(line, at, quote - at);
        if (quote == std::string::npos) {
          if (!lines.next(line)) {
            row.fault = "left out, a quote is not closed";
            return true;
          }
          size += line.size() + 1;
          require(size <= LineReader::kLongestLine,
                  "{}: the record of line {} is longer than {} bytes; is a quote open?", lines.name(), row.line,
                  LineReader::kLongestLine);
          cell += '\n';
          at = 0;
          continue;
        }
        at = quote + 1;
        if (at == line.size() || line[at] != '"') break;
        cell += '"';
        ++at;
      }
      if (at < line.size() && line[at] != ',') row.fault = "left out, text stands behind a closed quote";
    }
    const std::size_t comma = std::min(line.find(',', at), line.size());
    cell.append(line, at, comma - at);
    if (comma == line.size()) return true;
    at = comma + 1;
  }
}

class Table final : public SampleFormat {
 public:
  Table(ColumnNames names, bool (*read)(FileLines&, Row&)) : names_(std::move(names)), read_(read) {}

  void begin(FileLines& lines) override {
    order_ = names_.order();
    waiting_.reset();
    Row row;
    if (!read_(lines, row)) return;
    if (std::vector<int> header = names_.header(row.cells, lines.name()); !header.empty()) {
      order_ = std::move(header);
    } else {
      waiting_ = std::move(row);
    }
  }

  bool next(FileLines& lines, SampleRecord& record) override {
    Row row;
    if (waiting_) {
      row = std::move(*std::exchange(waiting_, std::nullopt));
    } else if (!read_(lines, row)) {
      return false;
    }
    record.place = {lines.name(), row.line};
    record.fault = std::move(row.fault);
    if (record.fault.empty() && row.cells.size() != order_.size())
      record.fault = fmt::format("left out, not {} columns", order_.size());
    if (!record.fault.empty()) return true;
    record.cells.resize(names_.names().size());
    for (std::size_t i = 0; i < order_.size(); ++i)
      if (order_[i] != ColumnNames::kUnwanted)
        record.cells[static_cast<std::size_t>(order_[i])] = {std::move(row.cells[i])};
    return true;
  }

 private:
  ColumnNames names_;
  bool (*read_)(FileLines&, Row&);
  std::vector<int> order_;      // of this file
  std::optional<Row> waiting_;  // its first record, which is no header
};

}  // namespace

std::unique_ptr<SampleFormat> tsv_format(ColumnNames names) {
  return std::make_unique<Table>(std::move(names), read_tsv);
}
std::unique_ptr<SampleFormat> csv_format(ColumnNames names) {
  return std::make_unique<Table>(std::move(names), read_csv);
}

}  // namespace heed
