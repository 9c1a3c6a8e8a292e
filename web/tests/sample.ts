// Traces made up for the tests, in the JSON that the command and the server write.

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

function side(words: string[]) {
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

// A bump on the diagonal, wider and moved from head to head; rows sum to 1.
function weights(rows: number, columns: number, shift: number, width: number): number[][] {
  return Array.from({ length: rows }, (_, i) => {
    const centre = (i * Math.max(1, columns - 1)) / Math.max(1, rows - 1) + shift;
    const raw = Array.from({ length: columns }, (_, j) => Math.exp(-(((j - centre) / width) ** 2)) + 1e-4);
    const sum = raw.reduce((a, b) => a + b);
    return raw.map((x) => Number((x / sum).toPrecision(5)));
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
        alignment_error: 0.2,
      },
    }),
  };
}

// Three hypotheses a step; the output is always the first, the others branch off it and off each other.
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
