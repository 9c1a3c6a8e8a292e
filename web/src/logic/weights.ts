// What can be made of a trace's weights: means, rollout, words instead of tokens, entropy.
import type { Attention, Matrix, Side, TraceText } from "./trace";

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

// The rollout of all self-attentions of a side; null where there are none.
export function selfRollout(attentions: Attention[], side: Side): Matrix | null {
  const layers = layersOf(attentions, side, side).map((a) => mean(a.heads));
  if (layers.length === 0) return null;
  return side === "source" ? rollout(layers) : withoutBegin(rollout(layers.map(withBegin)));
}

// An attention to the encoder's positions, through the encoder's rollout to the words themselves.
export function throughEncoder(alignment: Matrix, attentions: Attention[]): Matrix | null {
  const encoder = selfRollout(attentions, "source");
  return encoder && product(alignment, encoder);
}

export function layersOf(attentions: Attention[], rows: Side, columns: Side): Attention[] {
  return attentions.filter((a) => a.rows === rows && a.columns === columns).sort((a, b) => a.layer - b.layer);
}

// What one row or column of a picture stands for.
export interface Label {
  text: string;
  begin: number; // in code points of its text
  end: number;
  isEnd: boolean; // the end of the sentence
  tokens: number[];
}

export type Level = "words" | "tokens";

// The tokens or words of a text; without its end, a last token of no word, if that is not kept.
export function labels(of: TraceText, level: Level, keepEnd: boolean): Label[] {
  const last = of.tokens.length - 1;
  const result: Label[] = [];
  const place = new Map<number, Label>();
  of.tokens.forEach((token, i) => {
    if (token.word < 0 && i === last && !keepEnd) return;
    const known = level === "words" && token.word >= 0 ? place.get(token.word) : undefined;
    if (known) {
      known.tokens.push(i);
      return;
    }
    const word = level === "words" ? of.words[token.word] : undefined;
    const { text, begin, end } = word ?? token;
    const label = { text, begin, end, isEnd: token.word < 0 && i === last, tokens: [i] };
    result.push(label);
    if (token.word >= 0) place.set(token.word, label);
  });
  return result;
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
