#include <filesystem>

#include "heed/base/error.h"
#include "heed/data/eraser.h"
#include "heed/data/sample_files.h"

namespace heed {
namespace {

// ERASER's annotations as samples (eraser.h): a document, or a document and its query, or two documents, and the label.
class EraserRecords final : public SampleRecords {
 public:
  EraserRecords(std::vector<std::string> files, std::vector<SampleColumn> columns)
      : files_(std::move(files)), columns_(std::move(columns)) {}
  std::size_t sets() const override { return files_.size(); }

  bool next(SampleRecord& record) override {
    while (at_ == annotations_.size()) {
      if (set_ == files_.size()) return false;
      annotations_ = read_eraser_annotations(files_[set_]);
      documents_.emplace(std::filesystem::path(files_[set_]).parent_path().string());
      at_ = 0;
      ++set_;
    }
    const EraserAnnotation& annotation = annotations_[at_++];
    record.set = set_ - 1;
    record.place = {files_[set_ - 1], static_cast<Index>(at_)};
    std::size_t input = 0;
    for (const SampleColumn& column : columns_)
      record.cells.push_back({column.output ? annotation.classification : text_of(annotation, input++)});
    return true;
  }

 private:
  std::string text_of(const EraserAnnotation& annotation, std::size_t input) {
    if (input > 0 && annotation.docids.size() <= input) return annotation.query;
    if (input == 0 && annotation.document) return joined(eraser_document(*annotation.document));
    return joined(documents_->find(eraser_docid(annotation, input)));
  }
  static std::string joined(const EraserDocument& document) {
    std::string text;
    for (const std::vector<std::string>& sentence : document)
      for (const std::string& token : sentence) text += (text.empty() ? "" : " ") + token;
    return text;
  }

  std::vector<std::string> files_;
  std::vector<SampleColumn> columns_;
  std::vector<EraserAnnotation> annotations_;  // of the file that is being read
  std::optional<EraserDocuments> documents_;
  std::size_t set_ = 0, at_ = 0;
};

bool begins_with_annotation(const std::string& path, const std::vector<SampleColumn>&) {
  if (!std::filesystem::is_regular_file(path)) return false;
  FileLines lines(path);
  return lines.first().starts_with('{') && lines.first().find("\"annotation_id\"") != std::string::npos;
}

const RegisterSampleFormat eraser{
    {.name = "eraser",
     .description = "ERASER's annotations, with docs.jsonl or the folder docs beside them",
     .knows = begins_with_annotation,
     .open = [](const SampleFiles& files, const std::vector<SampleColumn>& columns) -> std::unique_ptr<SampleRecords> {
       return std::make_unique<EraserRecords>(files.files, columns);
     }}};

}  // namespace
}  // namespace heed
