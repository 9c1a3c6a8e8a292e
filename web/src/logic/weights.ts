// What can be made of a trace's weights: means, rollout, words instead of tokens, entropy.
import { secondsAt } from "./sound";
import { type Attention, type Axis, isChosen, isWords, type Matrix, type SoundAxis, type WordsAxis } from "./trace";

export function matrix(rows: number, columns: number): Matrix {
  return { rows, columns, values: new Float32Array(rows * columns) };
}

export function at(of: Matrix, row: number, column: number): number {
  return of.values[row * of.columns + column]!;
}

export function row(of: Matrix, i: number): Float32Array {
  return of.values.subarray(i * of.columns, (i + 1) * of.columns);
}

export function mean(of: Matrix[]): Matrix {
  const first = of[0]!;
  const sum = new Float64Array(first.values.length);
  for (const { values } of of) {
    for (let i = 0; i < sum.length; ++i) sum[i]! += values[i]!;
  }
  return { ...first, values: Float32Array.from(sum, (x) => x / of.length) };
}

export function largest(of: Matrix[]): Matrix {
  const result = { ...of[0]!, values: of[0]!.values.slice() };
  for (const { values } of of) {
    for (let i = 0; i < values.length; ++i) if (values[i]! > result.values[i]!) result.values[i] = values[i]!;
  }
  return result;
}

function product(a: Matrix, b: Matrix): Matrix {
  const result = matrix(a.rows, b.columns);
  for (let i = 0; i < a.rows; ++i) {
    const out = row(result, i);
    for (let k = 0; k < a.columns; ++k) {
      const weight = at(a, i, k);
      if (weight === 0) continue;
      const from = row(b, k);
      for (let j = 0; j < b.columns; ++j) out[j]! += weight * from[j]!;
    }
  }
  return result;
}

// Half of what stood there before stays: the residual connection. Â = ½ (A + I).
function withResidual(of: Matrix): Matrix {
  const result = { ...of, values: of.values.map((x) => x / 2) };
  for (let i = 0; i < of.rows; ++i) result.values[i * of.columns + i]! += 0.5;
  return result;
}

// Attention rollout (Abnar & Zuidema 2020) of layers [n, n], the first first: R = Â_L ⋯ Â_2 Â_1. Rows of R sum to 1
// where those of every layer do.
export function rollout(layers: Matrix[]): Matrix {
  return layers.map(withResidual).reduce((below, layer) => product(layer, below));
}

// A decoder's attention to its own words has no column for the begin, which has what is missing. Back to all that it
// reads: column 0 is the begin, column j is token j - 1.
function withBegin(of: Matrix): Matrix {
  const result = matrix(of.rows, of.columns);
  for (let i = 0; i < of.rows; ++i) {
    const to = row(result, i);
    to.set(row(of, i).subarray(0, of.columns - 1), 1);
    to[0] = 1 - to.reduce((sum, x) => sum + x, 0);
  }
  return result;
}

function withoutBegin(of: Matrix): Matrix {
  const result = matrix(of.rows, of.columns);
  for (let i = 0; i < of.rows; ++i) row(result, i).set(row(of, i).subarray(1));
  return result;
}

// The rollout of all attentions of an axis to itself; null where there are none. An output that is written token by
// token reads what stands before each of them.
export function selfRollout(attentions: Attention[], axis: string, written: boolean): Matrix | null {
  const layers = layersOf(attentions, axis, axis).map((a) => mean(a.heads));
  if (layers.length === 0) return null;
  return written ? withoutBegin(rollout(layers.map(withBegin))) : rollout(layers);
}

// An attention to an encoder's positions, through the encoder's rollout to what stands there itself.
export function throughEncoder(alignment: Matrix, attentions: Attention[], input: string): Matrix | null {
  const encoder = selfRollout(attentions, input, false);
  return encoder && product(alignment, encoder);
}

export function layersOf(attentions: Attention[], rows: string, columns: string): Attention[] {
  return attentions.filter((a) => a.rows === rows && a.columns === columns).sort((a, b) => a.layer - b.layer);
}

// What one row or column of a picture stands for.
export interface Label {
  kind: "word" | "end" | "place"; // a word or piece, the end of the sentence, a cell of an image or a stretch of a sound
  text: string;
  begin: number; // in code points of its text, in cells or in frames
  end: number;
  tokens: number[];
}

// legible: words, but pieces where no spaces stand between words.
export type Level = "words" | "legible" | "tokens";

// What the rows or columns of an axis stand for; of words without their end, a last token of no word, if that is not
// kept.
export function labels(of: Axis, level: Level, keepEnd: boolean): Label[] {
  if (isWords(of)) return wordLabels(of, level, keepEnd);
  if (of.kind === "sound") return stretches(of, level === "tokens" ? of.rows : mostStretches);
  return Array.from({ length: of.rows * of.columns }, (_, i) => ({
    kind: "place",
    text: `row ${Math.floor(i / of.columns) + 1}, column ${(i % of.columns) + 1}`,
    begin: i,
    end: i + 1,
    tokens: [i],
  }));
}

const mostStretches = 120;

// Even stretches of a sound, each of as many frames.
function stretches(of: SoundAxis, most: number): Label[] {
  const frames = Math.max(1, Math.ceil(of.rows / Math.max(1, most)));
  const seconds = (frame: number) => secondsAt(of, frame).toFixed(2);
  return Array.from({ length: Math.ceil(of.rows / frames) }, (_, i) => {
    const [begin, end] = [i * frames, Math.min(of.rows, (i + 1) * frames)];
    const tokens = Array.from({ length: end - begin }, (_, k) => begin + k);
    return { kind: "place", text: `${seconds(begin)}–${seconds(end)} s`, begin, end, tokens };
  });
}

// Scripts that write no spaces between words.
const unspaced = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;

function wordLabels(of: WordsAxis, level: Level, keepEnd: boolean): Label[] {
  const last = of.tokens.length - 1;
  const letters = Array.from(of.text);
  const result: Label[] = [];
  const place = new Map<number, Label>();
  of.tokens.forEach((token, i) => {
    const isEnd = token.word < 0 && i === last && !isChosen(of);
    if (isEnd && !keepEnd) return;
    const word = of.words[token.word];
    const inPieces = level === "tokens" || (level === "legible" && word !== undefined && unspaced.test(word.text));
    const known = inPieces ? undefined : place.get(token.word);
    if (known) {
      known.tokens.push(i);
      return;
    }
    const { begin, end } = (inPieces ? undefined : word) ?? token;
    // A piece that is legible is what it covers of the text: the vocabulary may know it as unknown only.
    const covered = level === "legible" ? letters.slice(token.begin, token.end).join("").trim() : "";
    const piece = covered || (level === "legible" ? token.text.replace(/^▁(?=.)/, "") : token.text);
    const text = inPieces || !word ? piece : word.text;
    const label: Label = { kind: isEnd ? "end" : "word", text, begin, end, tokens: [i] };
    result.push(label);
    if (word && !inPieces) place.set(token.word, label);
  });
  return result;
}

// The place behind each sentence's last label: behind the one that has its last token, or behind all where that is an
// end that is not kept.
export function sentenceEnds(of: WordsAxis, labels: Label[]): number[] {
  const place = new Map(labels.flatMap(({ tokens }, i) => tokens.map((token) => [token, i] as const)));
  return of.sentenceEnds.map((end) => (place.get(end - 1) ?? labels.length - 1) + 1);
}

// A column of several tokens gets their sum, all the weight that fell on the word; a row of several gets their mean, so
// that rows that summed to 1 still do. What fell on labels that are not shown stays out: no row is scaled up.
export function merged(weights: Matrix, rows: Label[], columns: Label[]): Matrix {
  const result = matrix(rows.length, columns.length);
  rows.forEach(({ tokens: from }, i) => {
    columns.forEach(({ tokens: to }, j) => {
      let sum = 0;
      for (const r of from) for (const c of to) sum += at(weights, r, c);
      result.values[i * columns.length + j] = sum / from.length;
    });
  });
  return result;
}

// In nats: 0 for a look at one word only, ln m for an even look at m.
export function entropy(weights: Float32Array): number {
  let sum = 0;
  for (const w of weights) if (w > 0) sum -= w * Math.log(w);
  return Math.max(0, sum);
}

// The places of the largest weights of a row, best first, without what is too small to name.
export function strongest(weights: Float32Array, most: number, least = 0.05): number[] {
  return Array.from(weights.keys())
    .filter((i) => weights[i]! >= least)
    .sort((a, b) => weights[b]! - weights[a]!)
    .slice(0, most);
}

// At most size × size numbers, each the largest of its block, so that a thin line of a large matrix is not lost.
export function thumbnail(of: Matrix, size: number): Matrix {
  const result = matrix(Math.min(of.rows, size), Math.min(of.columns, size));
  for (let i = 0; i < of.rows; ++i) {
    const out = row(result, Math.floor((i * result.rows) / of.rows));
    const from = row(of, i);
    for (let j = 0; j < of.columns; ++j) {
      const to = Math.floor((j * result.columns) / of.columns);
      if (from[j]! > out[to]!) out[to] = from[j]!;
    }
  }
  return result;
}
