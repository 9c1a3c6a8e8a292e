#pragma once

#include <map>
#include <string>

namespace heed {

// The ids of the images in a file of COCO's JSON, as they are written there, by the names of the images' files; none of
// a file that is something else.
std::map<std::string, std::string> coco_image_ids(const std::string& file);

}  // namespace heed
