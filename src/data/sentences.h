#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace heed {

// Where the sentences of a text end: offsets in bytes, rising, one past the last byte of each; the last is the size of
// the text, and an empty text has none. Blanks, `<br />`, `<p>` and stray marks behind a sentence belong to it, so that
// every sentence but that of a text without words has a word. The text is well-formed UTF-8.
//
// A sentence ends with . ! ? … and the quotes and brackets that close behind them; with 。！？ and 」 where no blank
// need follow; with a tag `<br>`, `<p>` or `</p>`; with an empty line. A full stop does not end one inside a number,
// behind an abbreviation ("Dr.", "e.g.", "J. R. R.") or the number of a list. Text in small letters alone and text
// whose marks stand apart, as tokenisers leave it, are cut too.
std::vector<std::size_t> sentence_ends(std::string_view text);

}  // namespace heed
