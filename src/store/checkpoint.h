#pragma once

#include <filesystem>
#include <map>

#include "heed/base/file.h"
#include "heed/store/training_state.h"

namespace heed {

// Everything that a run needs to go on exactly where it was: the states of its parts by name ("parameters",
// "optimiser", "data", ...).
//
// A checkpoint is one safetensors file: the tensors are "part/name", the numbers stand in its metadata under the same
// kind of name, written so that reading gives the same bits. Being one file that appears whole or not at all, it is
// always of one moment: a process that is killed, or finds the disk full, leaves the older checkpoint as it was.
using Checkpoint = std::map<std::string, TrainingState>;

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint,
                     const AtomicFile::BeforeRename& before = {});

// The tensors are views of the file. A missing, damaged or foreign file, or one of another version, is an Error that
// names it.
Checkpoint load_checkpoint(const std::filesystem::path& path);

// The part of that name; empty if it had nothing to keep.
const TrainingState& part_of(const Checkpoint& checkpoint, const std::string& name);

}  // namespace heed
