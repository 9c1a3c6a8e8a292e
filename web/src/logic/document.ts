// A text as a label looked at it, sentence by sentence: the figure of Yang et al. 2016.
import type { Picture } from "./picture";
import { isWords } from "./trace";
import { row, sentenceEnds } from "./weights";

// A stretch of the words that are looked at.
export interface Stretch {
  begin: number;
  end: number; // behind the last
}

export interface SentenceLook extends Stretch {
  number: number | null; // from 1; null: what stands behind all sentences, as the end does
  share: number; // p_s, all of the look that fell on its words
}

// What a row's look gave to each sentence; none where the text was not cut into sentences. A word with pieces in two
// sentences is of the first.
export function sentenceLooks(picture: Picture, i = 0): SentenceLook[] {
  const { columns, columnAxis, weights } = picture;
  if (!isWords(columnAxis) || columnAxis.sentenceEnds.length === 0) return [];
  const looks = row(weights, i);
  const sentences: SentenceLook[] = [];
  let begin = 0;
  const add = (end: number, number: number | null) => {
    if (end <= begin) return;
    sentences.push({ begin, end, number, share: looks.subarray(begin, end).reduce((a, b) => a + b, 0) });
    begin = end;
  };
  for (const end of sentenceEnds(columnAxis, columns)) add(end, sentences.length + 1);
  add(columns.length, null);
  return sentences;
}

// How deep the colour of each word is: its weight, or with sentences √p_s · p_w, where p_w is its share of the
// sentence's. So a strong word of a weak sentence is still seen, and fainter than one of a strong sentence.
export function depths(picture: Picture, sentences: SentenceLook[]): Float32Array {
  const result = row(picture.weights, 0).slice();
  for (const { begin, end, share } of sentences) {
    for (let j = begin; j < end; ++j) result[j] = share > 0 ? result[j]! / Math.sqrt(share) : 0;
  }
  return result;
}

// As many words in a row as are given, those with the most of the look together, the first of equal ones.
export function excerpt(looks: Float32Array, most: number): Stretch {
  let sum = looks.subarray(0, most).reduce((a, b) => a + b, 0);
  let best = { begin: 0, sum };
  for (let end = most; end < looks.length; ++end) {
    sum += looks[end]! - looks[end - most]!;
    // More than what rounding adds up to.
    if (sum > best.sum + 1e-6) best = { begin: end - most + 1, sum };
  }
  return { begin: best.begin, end: Math.min(looks.length, best.begin + most) };
}
