#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heed/tensor/tensor.h"

// Features of sounds that another program made: NumPy's .npy, matrices of Kaldi's archives, Sphinx's .mfc.

namespace heed {

// None of these files says how far its frames are apart; all programs take 10 ms.
inline constexpr double kMatrixStep = 0.01;  // seconds
inline constexpr Index kSphinxWidth = 13;    // cepstra per frame of a .mfc file

// [frames, width], or nothing if the bytes are none of these formats. A damaged one, one without frames and one with a
// number that is none are Errors that lead with `name`.
//   NumPy   '\x93NUMPY', a header in Python's notation, 32 or 64 bits in either byte order and order of axes
//   Kaldi   an optional key, then "\0B" and FM, DM, CM, CM2 or CM3; or the text " [ 1 2 \n 3 4 ]"
//   Sphinx  a count of 32-bit floats, then so many, 13 per frame, in either byte order
std::optional<Tensor> decode_matrix(std::string_view bytes, const std::string& name);

// "feats.ark:1042", as Kaldi's .scp files name a matrix: the offset of what stands behind its key.
struct ArchivePlace {
  std::string file;
  std::size_t offset = 0;
};
// Nothing if the name is not of this form.
std::optional<ArchivePlace> archive_place(const std::string& name);
// The bytes from there to the end of that matrix, and perhaps more.
std::string read_archived(const ArchivePlace& place);

}  // namespace heed
