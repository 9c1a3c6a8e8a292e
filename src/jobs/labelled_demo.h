#pragma once

#include "heed/data/corpora/labelled_corpus.h"
#include "heed/jobs/job.h"

// What the demos of jobs that give labels have in common: a made-up corpus as write_labelled_corpus has it.

namespace heed {

// Writes the examples, whose texts have the names `columns`, and gives a line that counts them as `noun`.
std::string write_labelled_demo(const std::filesystem::path& folder, std::vector<std::string> columns,
                                std::span<const GoldExample> examples, std::uint64_t seed, const std::string& noun);
// The files of such a folder, with what decides in the file `gold`.
JobDemo::Corpus labelled_demo_files(const std::filesystem::path& folder, const std::string& gold);

}  // namespace heed
