// Traces made up for the tests, in the JSON that the command and the server write.
import { wavOf } from "../src/logic/sound";

interface Options {
  layers?: number;
  heads?: number;
  encoder?: boolean; // also its attentions to itself; unless false
  words?: number; // of a long made-up sentence instead of the small one
  model?: string;
  beam?: boolean;
  trust?: boolean;
  flat?: number; // 0: a sharp alignment; 1: an even one
}

export type Text = ReturnType<typeof side>;

export function side(words: string[]) {
  const text = words.join(" ");
  const tokens: { text: string; begin: number; end: number; word: number }[] = [];
  const spans: { text: string; begin: number; end: number }[] = [];
  let at = 0;
  words.forEach((word, i) => {
    const letters = [...word];
    const end = at + letters.length;
    spans.push({ text: word, begin: at, end });
    // Long words are two pieces, as subwords are.
    const cut = letters.length > 5 ? 4 : letters.length;
    tokens.push({ text: `▁${letters.slice(0, cut).join("")}`, begin: at, end: at + cut, word: i });
    if (cut < letters.length) tokens.push({ text: letters.slice(cut).join(""), begin: at + cut, end, word: i });
    at = end + 1;
  });
  const length = [...text].length;
  tokens.push({ text: "</s>", begin: length, end: length, word: -1 });
  return { text, tokens, words: spans };
}

// Five significant digits, as traces have.
const written = (weight: number) => Number(weight.toPrecision(5));

// A bump on the diagonal, wider and moved from head to head; rows sum to 1.
export function weights(rows: number, columns: number, shift: number, width: number): number[][] {
  return Array.from({ length: rows }, (_, i) => {
    const centre = (i * Math.max(1, columns - 1)) / Math.max(1, rows - 1) + shift;
    const raw = Array.from({ length: columns }, (_, j) => Math.exp(-(((j - centre) / width) ** 2)) + 1e-4);
    const sum = raw.reduce((a, b) => a + b);
    return raw.map((x) => written(x / sum));
  });
}

export const english = "the government translates the old letters";
export const french = "le gouvernement traduit les vieilles lettres";

export function sampleTrace(options: Options = {}, text = english, translation = french) {
  const long = options.words ? Array.from({ length: options.words }, (_, i) => `w${i}`) : null;
  const source = side(long ?? text.split(/\s+/));
  const target = side(long ? long.map((w) => `x${w}`) : translation.split(/\s+/));
  const [n, m] = [target.tokens.length, source.tokens.length];
  const flat = 0.7 + 6 * (options.flat ?? 0);
  const attentions: object[] = [];
  for (let layer = 1; layer <= (options.layers ?? 0); ++layer) {
    const heads = options.heads ?? 2;
    const each = (rows: number, columns: number) =>
      Array.from({ length: heads }, (_, h) => weights(rows, columns, h - layer + 1, 0.6 + 0.4 * h));
    if (options.encoder !== false) {
      attentions.push({
        name: `encoder.layer${layer}.self`,
        layer,
        rows: "source",
        columns: "source",
        weights: each(m, m),
      });
    }
    attentions.push({
      name: `decoder.layer${layer}.source`,
      layer,
      rows: "target",
      columns: "source",
      weights: each(n, m),
    });
  }
  return {
    format: "heed-trace",
    version: 1,
    model: options.model ?? "demo",
    system: "rnnsearch",
    source,
    target,
    alignment: weights(n, m, 0, flat),
    log_probabilities: target.tokens.map((_, i) => -0.1 - 0.01 * i),
    ...(attentions.length && { attentions }),
    ...(options.beam && { beam: sampleBeam(target.tokens.map((t) => t.text)) }),
    ...(options.trust && {
      trust: {
        entropy: target.tokens.map(() => 0.5),
        gradient_agreement: 0.41,
        leave_one_out_agreement: 0.52,
        comprehensiveness: 0.6,
        sufficiency: 0.1,
        random_comprehensiveness: 0.3,
        random_sufficiency: 0.4,
        alignment_error: 0.2,
      },
    }),
  };
}

// Three hypotheses at each step; the output is always the first, the others branch off it and off each other.
function sampleBeam(tokens: string[]) {
  return tokens.map((token, step) => [
    { token, from: 0, log_probability: -0.1 * (step + 1), score: -0.1, ended: token === "</s>", chosen: true },
    { token: "▁la", from: 0, log_probability: -0.1 * step - 1.5, score: -1.5, ended: false, chosen: false },
    {
      token: "▁un",
      from: step === 0 ? 0 : 1,
      log_probability: -0.1 * step - 2.5,
      score: -2.5,
      ended: false,
      chosen: false,
    },
  ]);
}

// A picture of 8 × 8 colours as a data: address, in a format that needs no compression.
function bitmap(side = 8): string {
  const header = Buffer.alloc(54);
  header.write("BM");
  header.writeUInt32LE(54 + side * side * 4, 2);
  header.writeUInt32LE(54, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(side, 18);
  header.writeInt32LE(-side, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(32, 28);
  const pixels = Buffer.alloc(side * side * 4, 255);
  for (let i = 0; i < side * side; ++i) {
    const [x, y] = [i % side, Math.floor(i / side)];
    const inside = (x - 2) ** 2 + (y - 3) ** 2 < 5;
    pixels.set(inside ? [60, 120, 220] : y > 5 ? [70, 150, 60] : [235, 200, 150 + 10 * x], i * 4); // blue, green, red
  }
  return `data:image/bmp;base64,${Buffer.concat([header, pixels]).toString("base64")}`;
}

// Traces of version 2, one for each pair of axes that the page shows in its own way.
const common = (job: string) => ({ format: "heed-trace", version: 2, model: job, system: "made up", job });

export function captionTrace(caption = "a brown dog on grass") {
  const image = { name: "image", kind: "image", rows: 7, columns: 7, preview: bitmap() };
  const target = { name: "caption", kind: "text", ...side(caption.split(" ")) };
  const rows = weights(target.tokens.length, 49, 0, 6);
  return {
    ...common("captioning"),
    axes: [image, target],
    alignment: rows,
    alignment_rows: "caption",
    alignment_columns: "image",
    attentions: [{ name: "decoder.image", layer: 1, rows: "caption", columns: "image", weights: [rows, rows] }],
    log_probabilities: target.tokens.map(() => -0.3),
  };
}

// A second of a sound that swells and fades five times, as a WAV file of 8 kHz.
export function sampleWav(seconds = 1): Buffer {
  const samples = Float32Array.from({ length: 8000 * seconds }, (_, i) => {
    return Math.sin((i * Math.PI * 440) / 4000) * Math.abs(Math.sin((i * Math.PI * 5) / (8000 * seconds)));
  });
  return Buffer.from(wavOf(samples, 8000));
}

export function speechTrace(words = "turn the light off please", playable = "") {
  const waveform = Array.from({ length: 320 }, (_, i) => written(Math.abs(Math.sin((i * Math.PI * 5) / 320))));
  const sound = {
    name: "speech",
    kind: "sound",
    rows: 320,
    frame_seconds: 0.01,
    frame_margin: 0.0075,
    waveform,
    ...(playable && { playable }),
  };
  const said = words.split(" ").map((text, i, all) => {
    const each = 3.2 / all.length;
    return { text, begin: written(i * each + 0.1), end: written((i + 1) * each - 0.1) };
  });
  const target = { name: "transcript", kind: "text", ...side(words.split(" ")) };
  return {
    ...common("recognition"),
    axes: [sound, target],
    alignment: weights(target.tokens.length, 320, 0, 18),
    times: { units: said, words: said },
    alignment_rows: "transcript",
    alignment_columns: "speech",
    log_probabilities: target.tokens.map(() => -0.2),
  };
}

export const review =
  "The room was small and the street was loud.\n\nBut the breakfast was wonderful, and the people at the desk were kind.";

export function documentTrace(text = review, label = "positive") {
  const words = text.split(/\s+/);
  const document = { name: "document", kind: "document", ...side(words), text };
  let place = 0;
  document.words = words.map((word) => {
    const begin = text.indexOf(word, place);
    place = begin + word.length;
    return { text: word, begin, end: place };
  });
  document.tokens = document.words.map((word, i) => ({ ...word, word: i }));
  const bright = words.map((word): number => (/wonder|kind|loud|small/.test(word) ? 8 : 0.2));
  const sum = bright.reduce((a, b) => a + b);
  return {
    ...common("classification"),
    axes: [document, { name: "label", kind: "label", ...labelled(label) }],
    alignment: [bright.map((x) => written(x / sum))],
    alignment_rows: "label",
    alignment_columns: "document",
    choices: [
      { label: "positive", probability: 0.81 },
      { label: "neutral", probability: 0.15 },
      { label: "negative", probability: 0.04 },
    ],
  };
}

// The same read as sentences, with an end that is in none of them: the weights are those of the sentences times those of
// the words within.
export function hierarchicalTrace(text = review, label = "positive") {
  const trace = documentTrace(text, label);
  const document = trace.axes[0] as Text & { sentence_ends?: number[] };
  const length = [...text].length;
  const ends = document.tokens.flatMap((token, i) => (/[.!?]$/.test(token.text) ? [i + 1] : []));
  document.sentence_ends = ends;
  document.tokens.push({ text: "</s>", begin: length, end: length, word: -1 });
  const shares = ends.map((_, s) => s + 1);
  const sum = shares.reduce((a, b) => a + b);
  const row = trace.alignment[0]!;
  const within = ends.map((end, s) => row.slice(ends[s - 1] ?? 0, end));
  const weights = within.flatMap((sentence, s) => {
    const all = sentence.reduce((a, b) => a + b);
    return sentence.map((x) => written((x / all) * (shares[s]! / sum)));
  });
  return { ...trace, system: "han", alignment: [[...weights, 0]] };
}

// Several heads of one label, each with its own look at the text; the alignment is their mean.
export function selfAttentiveTrace(text = review, label = "positive", heads = 5) {
  const trace = documentTrace(text, label);
  const places = trace.alignment[0]!.length;
  const rows = Array.from({ length: heads }, (_, h) => weights(1, places, ((h + 0.5) * places) / heads, 1.2));
  const mean = Array.from({ length: places }, (_, j) =>
    written(rows.reduce((sum, row) => sum + row[0]![j]!, 0) / heads),
  );
  return {
    ...trace,
    system: "self-attentive",
    alignment: [mean],
    attentions: [{ name: "label.document", layer: 1, rows: "label", columns: "document", weights: rows }],
  };
}

// A word of the text that was chosen, with both directions of what question and text looked at.
export function readingTrace(
  text = "linda took the lamp to the barn",
  question = "the lamp is in the XXXXX",
  choices = ["barn", "lamp"],
) {
  const [document, asked] = [side(text.split(" ")), side(question.split(" "))];
  const [n, m] = [asked.tokens.length, document.tokens.length];
  return {
    ...common("reading"),
    axes: [
      { name: "document", kind: "document", ...document },
      { name: "question", kind: "text", ...asked },
      { name: "answer", kind: "choice", ...labelled(choices[0]!) },
    ],
    alignment: weights(1, m, 6, 1),
    alignment_rows: "answer",
    alignment_columns: "document",
    attentions: [
      { name: "question.document", layer: 1, rows: "question", columns: "document", weights: [weights(n, m, 0, 1)] },
      { name: "document.question", layer: 1, rows: "document", columns: "question", weights: [weights(m, n, 0, 1)] },
    ],
    choices: choices.map((label, i) => ({ label, probability: written(0.7 / (1 + 2.5 * i)) })),
  };
}

function labelled(label: string) {
  const end = [...label].length;
  return {
    text: label,
    tokens: [{ text: label, begin: 0, end, word: 0 }],
    words: [{ text: label, begin: 0, end }],
  };
}

export function entailmentTrace(premise = "a man plays a guitar on stage", hypothesis = "someone makes music") {
  const [given, claimed] = [side(premise.split(" ")), side(hypothesis.split(" "))];
  const rows = weights(claimed.tokens.length, given.tokens.length, 0, 1);
  return {
    ...common("entailment"),
    axes: [
      { name: "premise", kind: "text", ...given },
      { name: "hypothesis", kind: "text", ...claimed },
      { name: "label", kind: "label", ...labelled("entailment") },
    ],
    alignment: rows,
    alignment_rows: "hypothesis",
    alignment_columns: "premise",
    attentions: [{ name: "attend.hypothesis", layer: 1, rows: "hypothesis", columns: "premise", weights: [rows] }],
    choices: [
      { label: "entailment", probability: 0.7 },
      { label: "neutral", probability: 0.25 },
      { label: "contradiction", probability: 0.05 },
    ],
  };
}

// A model that reads both into one vector and looks back at nothing.
export function conditionalTrace(premise: string, hypothesis: string) {
  const { alignment, alignment_rows, alignment_columns, attentions, ...rest } = entailmentTrace(premise, hypothesis);
  return rest;
}

// Many sentences of different lengths.
export function longReview(words: number): string {
  const all = Array.from({ length: words }, (_, i) => `w${i}${i % 23 === 19 || i === words - 1 ? "." : ""}`);
  return all.join(" ").replace("w777 ", "wonderful ");
}
