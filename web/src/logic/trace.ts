// What a model attended to while it wrote one output: docs/trace.schema.json, version 1, read from JSON and checked.

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

export interface TraceText {
  text: string;
  tokens: Token[];
  words: Word[];
}

export type Side = "source" | "target";

// rows × columns numbers, a row after the other.
export interface Matrix {
  rows: number;
  columns: number;
  values: Float32Array;
}

export interface Attention {
  name: string;
  layer: number;
  rows: Side;
  columns: Side;
  heads: Matrix[];
}

export interface Hypothesis {
  token: string;
  from: number;
  logProbability: number;
  score: number;
  ended: boolean;
  chosen: boolean;
}

export interface Trust {
  entropy?: number[];
  gradientAgreement?: number;
  leaveOneOutAgreement?: number;
  comprehensiveness?: number;
  sufficiency?: number;
  alignmentError?: number;
}

export interface Trace {
  model: string;
  system: string;
  source: TraceText;
  target: TraceText;
  alignment?: Matrix; // target tokens × source tokens
  logProbabilities?: number[];
  attentions: Attention[];
  beam: Hypothesis[][];
  trust?: Trust;
}

// What is wrong with a trace, in words for the person who opened it.
export class TraceError extends Error {}

function fail(where: string, what: string): never {
  throw new TraceError(`${where} ${what}`);
}

type Fields = Record<string, unknown>;

function fields(value: unknown, where: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail(where, "is not an object");
  return value as Fields;
}

function list(value: unknown, where: string): unknown[] {
  if (!Array.isArray(value)) fail(where, "is not a list");
  return value;
}

function text(value: unknown, where: string): string {
  if (typeof value !== "string") fail(where, "is not text");
  return value;
}

function number(value: unknown, where: string): number {
  if (typeof value !== "number" || !Number.isFinite(value)) fail(where, "is not a number");
  return value;
}

function whole(value: unknown, least: number, most: number, where: string): number {
  const n = number(value, where);
  if (!Number.isInteger(n) || n < least || n > most) {
    fail(
      where,
      `is ${n}, not a whole number ${most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`}`,
    );
  }
  return n;
}

function flag(value: unknown, where: string): boolean {
  if (value === undefined) return false;
  if (typeof value !== "boolean") fail(where, "is neither true nor false");
  return value;
}

function side(value: unknown, where: string): Side {
  if (value !== "source" && value !== "target") fail(where, 'is neither "source" nor "target"');
  return value;
}

function span(of: Fields, length: number, where: string): { begin: number; end: number } {
  const begin = whole(of.begin, 0, length, `${where}.begin`);
  return { begin, end: whole(of.end, begin, length, `${where}.end`) };
}

export function readText(value: unknown, where: string): TraceText {
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
  return { text: wholeText, tokens, words };
}

function matrix(value: unknown, rows: number, columns: number, where: string): Matrix {
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

function numbers(value: unknown, count: number, where: string): number[] {
  const items = list(value, where);
  if (items.length !== count) fail(where, `has ${items.length} numbers for ${count} tokens`);
  return items.map((item, i) => number(item, `${where}[${i}]`));
}

function readBeam(value: unknown): Hypothesis[][] {
  let before = 1;
  return list(value, "beam").map((item, step) => {
    const hypotheses = list(item, `beam[${step}]`).map((entry, i) => {
      const at = `beam[${step}][${i}]`;
      const of = fields(entry, at);
      return {
        token: text(of.token, `${at}.token`),
        from: whole(of.from, 0, Math.max(0, before - 1), `${at}.from`),
        logProbability: number(of.log_probability, `${at}.log_probability`),
        score: number(of.score, `${at}.score`),
        ended: flag(of.ended, `${at}.ended`),
        chosen: flag(of.chosen, `${at}.chosen`),
      };
    });
    before = hypotheses.length;
    return hypotheses;
  });
}

function readTrust(value: unknown, targets: number): Trust {
  const of = fields(value, "trust");
  const trust: Trust = {};
  if (of.entropy !== undefined) trust.entropy = numbers(of.entropy, targets, "trust.entropy");
  const names = {
    gradient_agreement: "gradientAgreement",
    leave_one_out_agreement: "leaveOneOutAgreement",
    comprehensiveness: "comprehensiveness",
    sufficiency: "sufficiency",
    alignment_error: "alignmentError",
  } as const;
  for (const [written, name] of Object.entries(names)) {
    if (of[written] !== undefined) trust[name] = number(of[written], `trust.${written}`);
  }
  return trust;
}

// Reads and checks; throws a TraceError that names the first place that is wrong.
export function readTrace(value: unknown): Trace {
  const of = fields(value, "The trace");
  if (of.format !== "heed-trace") fail("The file", 'is not a trace of Heed: its "format" is not "heed-trace"');
  if (of.version !== 1) fail("The trace", `is of version ${String(of.version)}; this page reads version 1`);
  const source = readText(of.source, "source");
  const target = readText(of.target, "target");
  const length = (which: Side) => (which === "source" ? source : target).tokens.length;
  const trace: Trace = {
    model: of.model === undefined ? "" : text(of.model, "model"),
    system: of.system === undefined ? "" : text(of.system, "system"),
    source,
    target,
    attentions: list(of.attentions ?? [], "attentions").map((item, i) => {
      const at = `attentions[${i}]`;
      const attention = fields(item, at);
      const rows = side(attention.rows, `${at}.rows`);
      const columns = side(attention.columns, `${at}.columns`);
      const heads = list(attention.weights, `${at}.weights`);
      if (heads.length === 0) fail(`${at}.weights`, "has no head");
      return {
        name: text(attention.name, `${at}.name`),
        layer: whole(attention.layer, 1, Number.MAX_SAFE_INTEGER, `${at}.layer`),
        rows,
        columns,
        heads: heads.map((head, h) => matrix(head, length(rows), length(columns), `${at}.weights[${h}]`)),
      };
    }),
    beam: readBeam(of.beam ?? []),
  };
  if (of.alignment !== undefined) {
    trace.alignment = matrix(of.alignment, target.tokens.length, source.tokens.length, "alignment");
  }
  if (of.log_probabilities !== undefined) {
    trace.logProbabilities = numbers(of.log_probabilities, target.tokens.length, "log_probabilities");
  }
  if (of.trust !== undefined) trace.trust = readTrust(of.trust, target.tokens.length);
  return trace;
}

// One trace, a list of traces, or one a line, as heed explain writes several.
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

// The same trace as the JSON that readTrace reads.
export function writeTrace(trace: Trace): string {
  const { trust } = trace;
  return JSON.stringify({
    format: "heed-trace",
    version: 1,
    model: trace.model,
    system: trace.system,
    source: trace.source,
    target: trace.target,
    alignment: trace.alignment && rowsOf(trace.alignment),
    log_probabilities: trace.logProbabilities,
    attentions: trace.attentions.length
      ? trace.attentions.map(({ heads, ...rest }) => ({ ...rest, weights: heads.map(rowsOf) }))
      : undefined,
    beam: trace.beam.length
      ? trace.beam.map((step) =>
          step.map((h) => ({
            token: h.token,
            from: h.from,
            log_probability: h.logProbability,
            score: h.score,
            ended: h.ended,
            chosen: h.chosen,
          })),
        )
      : undefined,
    trust: trust && {
      entropy: trust.entropy,
      gradient_agreement: trust.gradientAgreement,
      leave_one_out_agreement: trust.leaveOneOutAgreement,
      comprehensiveness: trust.comprehensiveness,
      sufficiency: trust.sufficiency,
      alignment_error: trust.alignmentError,
    },
  });
}
