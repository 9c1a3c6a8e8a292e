// What a model attended to while it made one output. docs/trace.schema.json has two versions: in version 1 a source
// becomes a target, in version 2 any axes stand beside each other. Both are read from JSON, checked, and become the same.
import { type Fields, fail, fields, flag, list, number, numbers, TraceError, text, whole } from "./checked";

export { TraceError };

export interface Token {
  text: string; // as the vocabulary writes it: "▁Haus", "</s>"
  begin: number; // in code points
  end: number;
  word: number; // number of its word; -1: of none, as the end of the sentence
}

export interface Word {
  text: string;
  begin: number;
  end: number;
}

// What looks or is looked at: words, the cells of an image, or the frames of a sound.
export interface WordsAxis {
  name: string;
  kind: "text" | "document" | "label" | "choice";
  text: string;
  tokens: Token[];
  words: Word[];
  sentenceEnds: number[]; // the token behind each sentence's last one, rising; none where it was not cut into sentences
}

export interface ImageAxis {
  name: string;
  kind: "image";
  rows: number; // cells from top to bottom
  columns: number; // cells from left to right
  preview: string; // the image as a data: address, or empty
}

export interface SoundAxis {
  name: string;
  kind: "sound";
  rows: number; // frames
  frameSeconds: number;
  frameMargin: number; // seconds before the stretch that the first frame stands for
  preview: string; // its spectrogram as a data: address, or empty
  waveform: number[]; // the largest amplitude, 0 to 1, in each of equal stretches of it; may be empty
  playable: string; // what is heard, as a data: address, or empty
}

export type Axis = WordsAxis | ImageAxis | SoundAxis;

// rows × columns numbers, a row after the other.
export interface Matrix {
  rows: number;
  columns: number;
  values: Float32Array;
}

export interface Attention {
  name: string;
  layer: number;
  rows: string; // names of axes
  columns: string;
  heads: Matrix[];
}

export interface Hypothesis {
  token: string;
  from: number;
  logProbability: number; // -Infinity: impossible
  score: number;
  ended: boolean;
  chosen: boolean;
}

// Something that was said, and when, in seconds.
export interface Said {
  text: string;
  begin: number;
  end: number;
}

export interface Times {
  units: Said[];
  words: Said[];
}

export interface LabelChoice {
  label: string;
  probability: number;
}

export interface Trust {
  entropy?: number[];
  gradientAgreement?: number;
  leaveOneOutAgreement?: number;
  comprehensiveness?: number;
  sufficiency?: number;
  randomComprehensiveness?: number; // the same, for weights in random order
  randomSufficiency?: number;
  alignmentError?: number;
}

export interface Trace {
  version: 1 | 2;
  model: string;
  system: string;
  job: string; // empty: not said
  axes: Axis[]; // the last is the output
  rows: string; // names of the alignment's axes
  columns: string;
  alignment?: Matrix;
  unlinkedAtEnd?: boolean; // words that look at the end most have no link
  times?: Times; // of an alignment to a sound
  logProbabilities?: number[]; // of the output's tokens
  generationProbabilities?: number[]; // of a model that copies: that a token is not copied
  copied?: number[]; // and the share of each token's probability that is
  attentions: Attention[];
  choices: LabelChoice[]; // the most probable first; empty where no label was chosen
  beam: Hypothesis[][];
  trust?: Trust;
}

export function isWords(axis: Axis): axis is WordsAxis {
  return axis.kind !== "image" && axis.kind !== "sound";
}

// Whether an output was chosen, from labels or from what the sample has, and not written.
export const isChosen = (of: { kind: string }) => of.kind === "label" || of.kind === "choice";

// How many rows or columns of a matrix an axis has.
export function sizeOf(axis: Axis): number {
  if (isWords(axis)) return axis.tokens.length;
  return axis.kind === "image" ? axis.rows * axis.columns : axis.rows;
}

export function axisOf(trace: Trace, name: string): Axis {
  return trace.axes.find((axis) => axis.name === name)!;
}

export function outputOf(trace: Trace): Axis {
  return trace.axes.at(-1)!;
}

export function inputsOf(trace: Trace): Axis[] {
  return trace.axes.slice(0, -1);
}

// What a person reads of an axis; empty for an image or a sound.
export function textOf(axis: Axis): string {
  return isWords(axis) ? axis.text : "";
}

function span(of: Fields, length: number, where: string): { begin: number; end: number } {
  const begin = whole(of.begin, 0, length, `${where}.begin`);
  return { begin, end: whole(of.end, begin, length, `${where}.end`) };
}

function readSentenceEnds(value: unknown, tokens: number, where: string): number[] {
  let before = 0;
  return list(value, where).map((end, i) => {
    before = whole(end, before + 1, tokens, `${where}[${i}]`);
    return before;
  });
}

function readWords(value: unknown, where: string): Omit<WordsAxis, "name" | "kind"> {
  const of = fields(value, where);
  const wholeText = text(of.text, `${where}.text`);
  const length = [...wholeText].length;
  const words = list(of.words, `${where}.words`).map((item, i) => {
    const at = `${where}.words[${i}]`;
    const word = fields(item, at);
    return { text: text(word.text, `${at}.text`), ...span(word, length, at) };
  });
  const tokens = list(of.tokens, `${where}.tokens`).map((item, i) => {
    const at = `${where}.tokens[${i}]`;
    const token = fields(item, at);
    return {
      text: text(token.text, `${at}.text`),
      ...span(token, length, at),
      word: whole(token.word, -1, words.length - 1, `${at}.word`),
    };
  });
  const sentenceEnds = readSentenceEnds(of.sentence_ends ?? [], tokens.length, `${where}.sentence_ends`);
  return { text: wholeText, tokens, words, sentenceEnds };
}

// Only pictures that are pixels, and only from inside the trace.
const picturePattern = /^data:image\/(png|jpeg|gif|webp|bmp);base64,[A-Za-z0-9+/=\s]*$/;
const soundPattern = /^data:audio\/wav;base64,[A-Za-z0-9+/=\s]*$/;
const mostCells = 1 << 20;
const longestWaveform = 4096;

// A picture inside the trace; may be missing.
function readPreview(value: unknown, where: string): string {
  const preview = value === undefined ? "" : text(value, where);
  if (preview && !picturePattern.test(preview)) fail(where, "is not an image inside the trace");
  return preview;
}

function readWaveform(value: unknown, where: string): number[] {
  const peaks = list(value ?? [], where);
  if (peaks.length > longestWaveform) fail(where, `has ${peaks.length} numbers; ${longestWaveform} are allowed`);
  return peaks.map((peak, i) => {
    const amplitude = number(peak, `${where}[${i}]`);
    return amplitude >= 0 && amplitude <= 1 ? amplitude : fail(`${where}[${i}]`, "is not between 0 and 1");
  });
}

function readPlayable(value: unknown, where: string): string {
  const playable = value === undefined ? "" : text(value, where);
  if (playable && !soundPattern.test(playable)) fail(where, "is not a sound inside the trace");
  return playable;
}

function readTimes(value: unknown): Times {
  const of = fields(value, "times");
  const read = (name: "units" | "words") =>
    list(of[name], `times.${name}`).map((item, i) => {
      const at = `times.${name}[${i}]`;
      const said = fields(item, at);
      const [begin, end] = [number(said.begin, `${at}.begin`), number(said.end, `${at}.end`)];
      if (begin < 0 || end < begin) fail(at, "ends before it begins");
      return { text: text(said.text, `${at}.text`), begin, end };
    });
  return { units: read("units"), words: read("words") };
}

// An axis of version 2; what does not say its name or kind is text with the name `otherwise`.
export function readAxis(value: unknown, where: string, otherwise = ""): Axis {
  const of = fields(value, where);
  const name = of.name === undefined && otherwise ? otherwise : text(of.name, `${where}.name`);
  const kind = of.kind === undefined && otherwise ? "text" : text(of.kind, `${where}.kind`);
  switch (kind) {
    case "text":
    case "document":
    case "label":
    case "choice":
      return { name, kind, ...readWords(value, where) };
    case "image":
      return {
        name,
        kind,
        rows: whole(of.rows, 1, mostCells, `${where}.rows`),
        columns: whole(of.columns, 1, mostCells, `${where}.columns`),
        preview: readPreview(of.preview, `${where}.preview`),
      };
    case "sound":
      return {
        name,
        kind,
        rows: whole(of.rows, 0, mostCells, `${where}.rows`),
        frameSeconds: number(of.frame_seconds, `${where}.frame_seconds`),
        frameMargin: of.frame_margin === undefined ? 0 : number(of.frame_margin, `${where}.frame_margin`),
        preview: readPreview(of.preview, `${where}.preview`),
        waveform: readWaveform(of.waveform, `${where}.waveform`),
        playable: readPlayable(of.playable, `${where}.playable`),
      };
    default:
      return fail(`${where}.kind`, `is “${kind}”, which this page does not know`);
  }
}

function readAxes(of: Fields): Axis[] {
  if (of.version === 1) {
    return ["source", "target"].map((name) => ({ name, kind: "text", ...readWords(of[name], name) }));
  }
  const axes = list(of.axes, "axes").map((axis, i) => readAxis(axis, `axes[${i}]`));
  if (axes.length < 2) fail("axes", `has ${axes.length} axes; an input and an output are the least`);
  const twice = axes.find((axis, i) => axes.findIndex((a) => a.name === axis.name) !== i);
  if (twice) fail("axes", `has “${twice.name}” twice`);
  return axes;
}

function readMatrix(value: unknown, rows: number, columns: number, where: string): Matrix {
  const lines = list(value, where);
  if (lines.length !== rows) fail(where, `has ${lines.length} rows for ${rows} tokens`);
  const values = new Float32Array(rows * columns);
  lines.forEach((line, i) => {
    const row = list(line, `${where}[${i}]`);
    if (row.length !== columns) fail(`${where}[${i}]`, `has ${row.length} numbers for ${columns} tokens`);
    for (let j = 0; j < columns; ++j) {
      const w = row[j];
      if (typeof w !== "number" || !Number.isFinite(w)) fail(`${where}[${i}][${j}]`, "is not a number");
      values[i * columns + j] = w;
    }
  });
  return { rows, columns, values };
}

function readBeam(value: unknown): Hypothesis[][] {
  let before = 1;
  const optional = (n: unknown, where: string) => (n === undefined ? Number.NEGATIVE_INFINITY : number(n, where));
  return list(value, "beam").map((item, step) => {
    const hypotheses = list(item, `beam[${step}]`).map((entry, i) => {
      const at = `beam[${step}][${i}]`;
      const of = fields(entry, at);
      return {
        token: text(of.token, `${at}.token`),
        from: whole(of.from, 0, Math.max(0, before - 1), `${at}.from`),
        logProbability: optional(of.log_probability, `${at}.log_probability`),
        score: optional(of.score, `${at}.score`),
        ended: flag(of.ended, `${at}.ended`),
        chosen: flag(of.chosen, `${at}.chosen`),
      };
    });
    before = hypotheses.length;
    return hypotheses;
  });
}

const trustNames = {
  gradient_agreement: "gradientAgreement",
  leave_one_out_agreement: "leaveOneOutAgreement",
  comprehensiveness: "comprehensiveness",
  sufficiency: "sufficiency",
  random_comprehensiveness: "randomComprehensiveness",
  random_sufficiency: "randomSufficiency",
  alignment_error: "alignmentError",
} as const;

function readTrust(value: unknown, rows: number): Trust {
  const of = fields(value, "trust");
  const trust: Trust = {};
  if (of.entropy !== undefined) trust.entropy = numbers(of.entropy, rows, "trust.entropy");
  for (const [written, name] of Object.entries(trustNames)) {
    if (of[written] !== undefined) trust[name] = number(of[written], `trust.${written}`);
  }
  return trust;
}

function readChoices(value: unknown): LabelChoice[] {
  return list(value, "choices").map((item, i) => {
    const of = fields(item, `choices[${i}]`);
    return {
      label: text(of.label, `choices[${i}].label`),
      probability: number(of.probability, `choices[${i}].probability`),
    };
  });
}

// Reads and checks; throws a TraceError that names the first place that is wrong.
export function readTrace(value: unknown): Trace {
  const of = fields(value, "The trace");
  if (of.format !== "heed-trace") fail("The file", 'is not a trace of Heed: its "format" is not "heed-trace"');
  const { version } = of;
  if (version !== 1 && version !== 2) {
    fail("The trace", `is of version ${String(version)}; this page reads versions 1 and 2`);
  }
  const axes = readAxes(of);
  const named = (name: unknown, where: string) => {
    const found = axes.find((axis) => axis.name === name);
    return found ?? fail(where, `is none of the axes ${axes.map((axis) => `“${axis.name}”`).join(", ")}`);
  };
  const optional = (name: string) => (of[name] === undefined ? "" : text(of[name], name));
  const output = axes.at(-1)!;
  const ofAlignment = (name: string, otherwise: Axis) =>
    version === 1 || (of[name] === undefined && of.alignment === undefined) ? otherwise : named(of[name], name);
  const rows = ofAlignment("alignment_rows", output);
  const columns = ofAlignment("alignment_columns", axes[0]!);
  const trace: Trace = {
    version,
    model: optional("model"),
    system: optional("system"),
    job: optional("job"),
    axes,
    rows: rows.name,
    columns: columns.name,
    attentions: list(of.attentions ?? [], "attentions").map((item, i) => {
      const at = `attentions[${i}]`;
      const attention = fields(item, at);
      const [looks, looked] = [named(attention.rows, `${at}.rows`), named(attention.columns, `${at}.columns`)];
      const heads = list(attention.weights, `${at}.weights`);
      if (heads.length === 0) fail(`${at}.weights`, "has no head");
      return {
        name: text(attention.name, `${at}.name`),
        layer: whole(attention.layer, 1, Number.MAX_SAFE_INTEGER, `${at}.layer`),
        rows: looks.name,
        columns: looked.name,
        heads: heads.map((head, h) => readMatrix(head, sizeOf(looks), sizeOf(looked), `${at}.weights[${h}]`)),
      };
    }),
    choices: readChoices(of.choices ?? []),
    beam: readBeam(of.beam ?? []),
  };
  if (of.alignment !== undefined) {
    trace.alignment = readMatrix(of.alignment, sizeOf(rows), sizeOf(columns), "alignment");
  }
  if (of.unlinked_at_end !== undefined) trace.unlinkedAtEnd = of.unlinked_at_end === true;
  if (of.times !== undefined) trace.times = readTimes(of.times);
  if (of.log_probabilities !== undefined) {
    trace.logProbabilities = numbers(of.log_probabilities, sizeOf(output), "log_probabilities");
  }
  if (of.generation_probabilities !== undefined) {
    trace.generationProbabilities = numbers(of.generation_probabilities, sizeOf(output), "generation_probabilities");
  }
  if (of.copied !== undefined) trace.copied = numbers(of.copied, sizeOf(output), "copied");
  if (of.trust !== undefined) trace.trust = readTrust(of.trust, sizeOf(rows));
  return trace;
}

// One trace, a list of traces, or one on each line, as heed explain writes several.
export function parseTraces(json: string): Trace[] {
  const value =
    parsed(json) ??
    json
      .trim()
      .split("\n")
      .map((line) => parsed(line));
  const traces = Array.isArray(value) ? value : [value];
  if (traces.length === 0) throw new TraceError("The file has no trace.");
  if (traces.includes(null)) throw new TraceError("The file is not JSON.");
  return traces.map((trace) => readTrace(trace));
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

// At most five significant digits, as the command writes them.
function rounded(x: number): number {
  return Number(x.toPrecision(5));
}

function rowsOf(of: Matrix): number[][] {
  return Array.from({ length: of.rows }, (_, i) =>
    Array.from(of.values.subarray(i * of.columns, (i + 1) * of.columns), rounded),
  );
}

function writeAxis(axis: Axis): object {
  if (axis.kind === "image") return { ...axis, preview: axis.preview || undefined };
  if (axis.kind === "sound") {
    const { frameSeconds, frameMargin, preview, waveform, playable, ...rest } = axis;
    return {
      ...rest,
      frame_seconds: frameSeconds,
      frame_margin: frameMargin || undefined,
      preview: preview || undefined,
      waveform: waveform.length ? waveform : undefined,
      playable: playable || undefined,
    };
  }
  return { name: axis.name, kind: axis.kind, ...writeWords(axis) };
}

function writeWords({ text: written, tokens, words, sentenceEnds }: WordsAxis): object {
  return { text: written, tokens, words, sentence_ends: sentenceEnds.length ? sentenceEnds : undefined };
}

function writeAxes(trace: Trace): object {
  if (trace.version === 2) {
    return {
      axes: trace.axes.map(writeAxis),
      ...(trace.alignment && { alignment_rows: trace.rows, alignment_columns: trace.columns }),
    };
  }
  const [source, target] = trace.axes as [WordsAxis, WordsAxis];
  return { source: writeWords(source), target: writeWords(target) };
}

const finite = (x: number) => (Number.isFinite(x) ? x : undefined);

// The same trace as the JSON that readTrace reads.
export function writeTrace(trace: Trace): string {
  const { trust } = trace;
  return JSON.stringify({
    format: "heed-trace",
    version: trace.version,
    model: trace.model,
    system: trace.system,
    job: trace.job || undefined,
    ...writeAxes(trace),
    alignment: trace.alignment && rowsOf(trace.alignment),
    unlinked_at_end: trace.unlinkedAtEnd,
    times: trace.times,
    log_probabilities: trace.logProbabilities,
    generation_probabilities: trace.generationProbabilities,
    copied: trace.copied,
    choices: trace.choices.length ? trace.choices : undefined,
    attentions: trace.attentions.length
      ? trace.attentions.map(({ heads, ...rest }) => ({ ...rest, weights: heads.map(rowsOf) }))
      : undefined,
    beam: trace.beam.length
      ? trace.beam.map((step) =>
          step.map((h) => ({
            token: h.token,
            from: h.from,
            log_probability: finite(h.logProbability),
            score: finite(h.score),
            ended: h.ended,
            chosen: h.chosen,
          })),
        )
      : undefined,
    trust: trust && {
      entropy: trust.entropy,
      ...Object.fromEntries(Object.entries(trustNames).map(([written, name]) => [written, trust[name]])),
    },
  });
}
