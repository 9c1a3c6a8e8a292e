#include "heed/data/gold_boxes.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json-inl.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

using BoxJson = nlohmann::ordered_json;

GoldBox box_in(const BoxJson& item) {
  const BoxJson& sides = item.at("box");
  require(sides.is_array() && sides.size() == 4, "a box has four numbers, not {}", sides.size());
  const GoldBox box{item.at("word").get<Index>(), sides[0].get<double>(), sides[1].get<double>(),
                    sides[2].get<double>(), sides[3].get<double>()};
  require(box.word >= 0 && box.left >= 0 && box.top >= 0 && box.left < box.right && box.top < box.bottom &&
              box.right <= 1 && box.bottom <= 1,
          "the box {} of word {} is not inside the picture", sides.dump(), box.word);
  return box;
}

}  // namespace

std::string gold_boxes_line(const std::vector<GoldBox>& boxes) {
  BoxJson list = BoxJson::array();
  for (const GoldBox& box : boxes)
    list.push_back({{"word", box.word}, {"box", {box.left, box.top, box.right, box.bottom}}});
  return BoxJson{{"boxes", std::move(list)}}.dump();
}

std::vector<std::vector<GoldBox>> read_gold_boxes(const std::string& file) {
  std::vector<std::vector<GoldBox>> all;
  LineReader lines(file);
  for (std::string line; lines.next(line);) {
    try {
      all.emplace_back();
      const BoxJson line_of_boxes = parse_json<BoxJson>(line, "the line");
      for (const BoxJson& item : line_of_boxes.at("boxes")) all.back().push_back(box_in(item));
    } catch (const std::exception& error) {
      fail("{}, line {}: it has no boxes of words: {}", file, lines.number(), error.what());
    }
  }
  return all;
}

}  // namespace heed
