#include "heed/data/caption_files.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "heed/base/error.h"
#include "heed/base/json-inl.h"
#include "heed/data/sample_files.h"

// Files of images and their captions, as the field has them. All captions of an image are one sample. What follows a #
// behind the name of a file says which part of it is meant:
//   captions  lines `image<TAB>caption` or, as Flickr8k.token.txt has them, `image#k<TAB>caption`; those of one image
//   are
//             neighbours. FILE#LIST takes the images that the file LIST, in the same folder, names line by line.
//   karpathy  {"images": [{"filename", "filepath"?, "split", "sentences": [{"raw", "tokens"}]}]}; FILE#train,
//             FILE#train+restval, ...
//   coco      {"images": [{"id", "file_name"}], "annotations": [{"image_id", "caption"}]}

namespace heed {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// A file and what is wanted of it.
struct PartOfFile {
  std::string file, part;  // part: what follows the #; empty: none does
};
PartOfFile part_of(const std::string& given) {
  const std::size_t mark = given.rfind('#');
  if (mark == std::string::npos || fs::exists(given)) return {given, ""};
  return {given.substr(0, mark), given.substr(mark + 1)};
}

// Which column is the image and which the caption; the caption's is missing where none is read.
struct CaptionColumns {
  std::size_t count = 0, image = 0, caption = 0;
  bool has_caption = false;
};
CaptionColumns columns_of(const std::vector<SampleColumn>& columns) {
  CaptionColumns found{.count = columns.size()};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].kind == Kind::image) found.image = i;
    if (columns[i].output) found.caption = i, found.has_caption = true;
  }
  return found;
}
bool are_captions(const std::vector<SampleColumn>& columns) {
  const CaptionColumns found = columns_of(columns);
  return columns.size() == (found.has_caption ? 2U : 1U) && columns[found.image].kind == Kind::image &&
         (!found.has_caption || is_text(columns[found.caption].kind));
}

// Samples that a whole file gave, one after another.
class GatheredRecords final : public SampleRecords {
 public:
  struct Image {
    std::string path;
    std::vector<std::string> captions;
    std::string fault = {};
    Index line = 0;  // where it stands in the file; 0: only its number is known
  };
  using Read = std::function<std::vector<Image>(const PartOfFile&)>;

  GatheredRecords(const SampleFiles& files, const std::vector<SampleColumn>& columns, const char* format, Read read)
      : columns_(columns_of(columns)), read_(std::move(read)) {
    require(are_captions(columns),
            "[samples] files of format {} have images and captions, which is not what this job reads", format);
    for (const std::string& file : files.files) {
      files_.push_back(part_of(file));
      require(files_.back().file != "-", "[samples] files of format {} cannot be the standard input", format);
      LineReader{files_.back().file};  // one that is missing is found before the others are read
    }
  }
  std::size_t sets() const override { return files_.size(); }

  bool next(SampleRecord& record) override {
    while (at_ == images_.size()) {
      if (set_ == files_.size()) return false;
      images_ = read_(files_[set_++]);
      at_ = 0;
    }
    Image& image = images_[at_++];
    record.set = set_ - 1;
    record.place = {files_[set_ - 1].file, image.line > 0 ? image.line : static_cast<Index>(at_)};
    record.detail = " (" + image.path + ")";
    record.fault = std::move(image.fault);
    record.cells.resize(columns_.count);
    record.cells[columns_.image] = {std::move(image.path)};
    if (columns_.has_caption) record.cells[columns_.caption] = std::move(image.captions);
    return true;
  }

 private:
  CaptionColumns columns_;
  Read read_;
  std::vector<PartOfFile> files_;
  std::vector<Image> images_;  // of one file
  std::size_t at_ = 0, set_ = 0;
};
using Image = GatheredRecords::Image;

constexpr const char* kNoObject = "left out, not an image with captions";

Json read_object(const std::string& file, const char* list) {
  Json json = parse_json(read_unpacked(file), file);
  require(json.is_object() && json.contains(list) && json[list].is_array(), "{}: it has no list {}", file, list);
  return json;
}
std::string text_member(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}
// A list of a JSON object; an empty one if it is not there.
const Json& list_member(const Json& object, const char* name) {
  static const Json kNone = Json::array();
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found != object.end() && found->is_array() ? *found : kNone;
}

std::string karpathy_caption(const Json& sentence) {
  std::string text = text_member(sentence, "raw");
  if (!text.empty()) return text;
  for (const Json& token : list_member(sentence, "tokens"))
    if (token.is_string()) text += (text.empty() ? "" : " ") + token.get<std::string>();
  return text;
}

std::vector<Image> read_karpathy(const PartOfFile& wanted) {
  const Json json = read_object(wanted.file, "images");
  std::set<std::string> splits, found;
  for (std::size_t at = 0; at < wanted.part.size();) {
    const std::size_t end = std::min(wanted.part.find('+', at), wanted.part.size());
    splits.insert(wanted.part.substr(at, end - at));
    at = end + 1;
  }
  std::vector<Image> images;
  for (const Json& image : json["images"]) {
    const std::string split = text_member(image, "split");
    found.insert(split);
    if (!splits.contains(split)) continue;
    const std::string folder = text_member(image, "filepath"), name = text_member(image, "filename");
    Image& added =
        images.emplace_back(Image{folder.empty() ? name : folder + "/" + name, {}, name.empty() ? kNoObject : ""});
    for (const Json& sentence : list_member(image, "sentences")) added.captions.push_back(karpathy_caption(sentence));
  }
  require(!splits.empty(), "{}: say which of its splits is meant: {}#{}", wanted.file, wanted.file,
          fmt::join(found, "|"));
  for (const std::string& split : splits)
    require(found.contains(split), "{}: there is no split {}; there are {}", wanted.file, split,
            fmt::join(found, ", "));
  return images;
}

const Json* find_id(const Json& image) {
  const auto id = image.is_object() ? image.find("id") : image.end();
  return id == image.end() ? nullptr : &*id;
}

std::vector<Image> read_coco(const PartOfFile& wanted) {
  require(wanted.part.empty(), "{}: COCO's files have no parts such as {}", wanted.file, wanted.part);
  const Json json = read_object(wanted.file, "images");
  std::vector<Image> images;
  std::map<std::string, std::size_t> by_id;  // ids are numbers or texts, as they are written
  for (const Json& image : json["images"]) {
    const std::string name = text_member(image, "file_name");
    const Json* id = find_id(image);
    const bool whole = !name.empty() && id != nullptr;
    if (whole) by_id[id->dump()] = images.size();
    images.push_back({name, {}, whole ? "" : kNoObject});
  }
  std::vector<Image> lost;  // captions of images that are not there
  for (const Json& caption : list_member(json, "annotations")) {
    const std::string text = text_member(caption, "caption");
    const std::string id = caption.is_object() && caption.contains("image_id") ? caption["image_id"].dump() : "none";
    const auto image = by_id.find(id);
    if (image == by_id.end()) {
      lost.push_back({"image " + id, {}, "left out, a caption of an image that is not listed"});
    } else if (!text.empty()) {
      images[image->second].captions.push_back(text);
    }
  }
  images.insert(images.end(), std::make_move_iterator(lost.begin()), std::make_move_iterator(lost.end()));
  return images;
}

// "x.jpg#3" is the third caption of x.jpg.
std::string without_number(std::string_view image) {
  const std::size_t mark = image.rfind('#');
  const bool numbered = mark != std::string_view::npos && mark + 1 < image.size() &&
                        image.find_first_not_of("0123456789", mark + 1) == std::string_view::npos;
  return std::string(image.substr(0, numbered ? mark : image.size()));
}

std::vector<Image> read_lines(const PartOfFile& wanted) {
  std::set<std::string> listed;
  if (!wanted.part.empty()) {
    LineReader names((fs::path(wanted.file).parent_path() / wanted.part).string());
    for (std::string& name : names.rest()) listed.insert(std::move(name));
  }
  std::vector<Image> images;
  LineReader lines(wanted.file);
  for (std::string line; lines.next(line);) {
    const std::vector<std::string_view> cells = columns_of_line(line);
    const bool header = lines.number() == 1 && cells.size() == 2 && cells[0] == "image";
    if (header || line.empty()) continue;
    const std::string image = without_number(cells[0]);
    if (!listed.empty() && !listed.contains(image)) continue;
    if (images.empty() || images.back().path != image || !images.back().fault.empty())
      images.push_back({.path = image, .captions = {}, .line = lines.number()});
    if (cells.size() == 2 && !cells[1].empty()) {
      images.back().captions.emplace_back(cells[1]);
    } else {
      images.back().fault = "left out, a line without a tab and a caption";
    }
  }
  return images;
}

// The first bytes of a file, unpacked; nothing if it cannot be read.
std::string beginning_of(const std::string& given) {
  std::string bytes(4096, '\0');
  try {
    ByteReader reader(part_of(given).file);
    bytes.resize(reader.read(bytes));
  } catch (const Error&) {
    return "";
  }
  return bytes;
}

bool knows_lines(const std::string& path, const std::vector<SampleColumn>& columns) {
  if (!are_captions(columns) || !columns_of(columns).has_caption) return false;
  const std::string bytes = beginning_of(path), line = bytes.substr(0, bytes.find('\n'));
  return !line.starts_with('{') && columns_of_line(line).size() == 2;
}
// Either has a list of images; COCO's annotations stand apart from them.
bool knows_json(const std::string& path, const std::vector<SampleColumn>& columns, bool coco) {
  if (!are_captions(columns)) return false;
  const std::string bytes = beginning_of(path);
  const std::size_t begin = bytes.find_first_not_of(" \r\n\t");
  if (begin == std::string::npos || bytes[begin] != '{') return false;
  const auto has = [&](const char* name) { return bytes.find(name) != std::string::npos; };
  const bool karpathy = has("\"sentids\"") || has("\"sentences\"") || has("\"imgid\"");
  return coco ? !karpathy && (has("\"info\"") || has("\"images\"") || has("\"annotations\"") || has("\"licenses\""))
              : karpathy;
}

using Columns = std::vector<SampleColumn>;
const RegisterSampleFormat caption_lines{
    {.name = "captions",
     .description = "image<TAB>caption, as Flickr8k has them; FILE#LIST: of the images in LIST",
     .knows = knows_lines,
     .open = [](const SampleFiles& files, const Columns& columns) {
       return std::make_unique<GatheredRecords>(files, columns, "captions", read_lines);
     }}};
const RegisterSampleFormat karpathy_json{
    {.name = "karpathy",
     .description = "Karpathy's JSON of images and sentences; FILE#train: of one split",
     .knows = [](const std::string& path, const Columns& columns) { return knows_json(path, columns, false); },
     .open =
         [](const SampleFiles& files, const Columns& columns) {
           return std::make_unique<GatheredRecords>(files, columns, "karpathy", read_karpathy);
         }}};
const RegisterSampleFormat coco_json{
    {.name = "coco",
     .description = "COCO's JSON of images and annotations",
     .knows = [](const std::string& path, const Columns& columns) { return knows_json(path, columns, true); },
     .open =
         [](const SampleFiles& files, const Columns& columns) {
           return std::make_unique<GatheredRecords>(files, columns, "coco", read_coco);
         }}};

}  // namespace

std::map<std::string, std::string> coco_image_ids(const std::string& file) {
  std::map<std::string, std::string> ids;
  const Json json = object_or_null(read_unpacked(part_of(file).file));
  for (const Json& image : list_member(json, "images"))
    if (const Json* id = find_id(image)) ids[text_member(image, "file_name")] = id->dump();
  return ids;
}

}  // namespace heed
