import { describe, expect, it } from "vitest";
import {
  attentionOptions,
  attentionsThatFit,
  headCount,
  maxHead,
  picture,
  possibleChoice,
  possibleView,
  shapeOf,
  theAlignment,
  viewsOf,
} from "../../src/logic/picture";
import { reading, readRows } from "../../src/logic/reading";
import { type Axis, type Matrix, readTrace, type WordsAxis } from "../../src/logic/trace";
import {
  at,
  entropy,
  labels,
  largest,
  mean,
  merged,
  rollout,
  row,
  selfRollout,
  strongest,
  throughEncoder,
  thumbnail,
} from "../../src/logic/weights";
import { captionTrace, documentTrace, entailmentTrace, readingTrace, sampleTrace, side, speechTrace } from "../sample";

function matrixOf(...rows: number[][]): Matrix {
  return { rows: rows.length, columns: rows[0]!.length, values: Float32Array.from(rows.flat()) };
}
const sum = (of: Float32Array) => of.reduce((a, b) => a + b, 0);
const trace = readTrace(sampleTrace({ layers: 3, heads: 2 }));
const source = trace.axes[0] as WordsAxis;

describe("words that were copied", () => {
  it("are marked in the rows of the output", () => {
    const n = trace.axes[1]!.kind === "text" ? (trace.axes[1] as WordsAxis).tokens.length : 0;
    const copied = Array.from({ length: n }, (_, i) => (i === 0 ? 0.9 : 0.1));
    const json = { ...JSON.parse(JSON.stringify(sampleTrace({ layers: 3, heads: 2 }))), copied };
    const shown = picture(readTrace(json), theAlignment, "tokens", true)!;
    const plain = picture(trace, theAlignment, "tokens", true)!;
    expect(shown.rows.map((row) => row.text)).toEqual(
      plain.rows.map((row, i) => (i === 0 ? `${row.text} <` : row.text)),
    );
    expect(shown.columns).toEqual(plain.columns);
  });
});

describe("attentions that fit into an answer", () => {
  it("are all of them, or the last", () => {
    const shapes = trace.attentions.map(shapeOf);
    expect(attentionsThatFit(shapes, trace)).toBe(true);
    const [last, before] = [trace.attentions.at(-1)!, trace.attentions.at(-2)!];
    const weights = [last, before].map(({ heads }) => heads.length * heads[0]!.values.length);
    expect(attentionsThatFit(shapes, trace, weights[0]! + weights[1]!)).toEqual([before.name, last.name]);
    expect(attentionsThatFit(shapes, trace, weights[0]! + weights[1]! - 1)).toEqual([last.name]);
    expect(attentionsThatFit(shapes, trace, 1)).toEqual([]);
  });
});

describe("labels", () => {
  it("are words or tokens, with or without the end", () => {
    expect(labels(source, "words", false).map((l) => l.text)).toEqual(source.words.map((w) => w.text));
    expect(labels(source, "words", true).at(-1)).toMatchObject({ kind: "end", text: "</s>" });
    expect(labels(source, "tokens", false)).toHaveLength(source.tokens.length - 1);
    expect(labels(source, "words", false)[1]!.tokens).toEqual([1, 2]);
  });

  it("keep a token of no word that is not the last", () => {
    const text: Axis = {
      name: "source",
      kind: "text",
      text: "a",
      tokens: [
        { text: "▁", begin: 0, end: 0, word: -1 },
        { text: "a", begin: 0, end: 1, word: 0 },
      ],
      words: [{ text: "a", begin: 0, end: 1 }],
      sentenceEnds: [],
    };
    expect(labels(text, "words", false).map((l) => [l.text, l.kind])).toEqual([
      ["▁", "word"],
      ["a", "word"],
    ]);
  });

  it("are pieces where a text has no spaces between words, unless words are asked for", () => {
    const pieces = ["▁私", "は", "猫", "▁Heed"].map((text, i) => ({ text, begin: i, end: i + 1, word: i < 3 ? 0 : 1 }));
    const words = [
      { text: "私は猫", begin: 0, end: 3 },
      { text: "Heed", begin: 4, end: 8 },
    ];
    const text: Axis = { name: "source", kind: "text", text: "私は猫 Heed", tokens: pieces, words, sentenceEnds: [] };
    expect(labels(text, "legible", false).map((l) => l.text)).toEqual(["私", "は", "猫", "Heed"]);
    expect(labels(text, "words", false).map((l) => l.text)).toEqual(["私は猫", "Heed"]);
    const unknown = { ...text, tokens: pieces.map((piece) => ({ ...piece, text: "<unk>" })) };
    expect(labels(unknown, "legible", false).map((l) => l.text)).toEqual(["私", "は", "猫", "Heed"]);
    expect(labels(unknown, "tokens", false).map((l) => l.text)).toEqual(["<unk>", "<unk>", "<unk>", "<unk>"]);
    const spaced: Axis = { name: "source", kind: "text", ...side(["government", "letters"]), sentenceEnds: [] };
    expect(labels(spaced, "legible", true)).toEqual(labels(spaced, "words", true));
  });

  it("of an image are its cells, of a sound stretches of seconds", () => {
    const [image] = readTrace(captionTrace()).axes;
    expect(labels(image!, "words", false)).toHaveLength(49);
    expect(labels(image!, "words", false)[8]).toMatchObject({ kind: "place", text: "row 2, column 2", tokens: [8] });
    const [sound] = readTrace(speechTrace()).axes;
    const stretches = labels(sound!, "words", false);
    expect(stretches).toHaveLength(107); // 320 frames in threes
    expect(stretches[1]).toMatchObject({ text: "0.04–0.07 s", tokens: [3, 4, 5] });
    expect(stretches.at(-1)).toMatchObject({ text: "3.19–3.21 s", tokens: [318, 319] });
    expect(labels(sound!, "tokens", false)).toHaveLength(320);
  });
});

describe("merging", () => {
  const tokens = [0, 1, 2].map((i) => ({ text: `${i}`, begin: i, end: i + 1, kind: "word" as const, tokens: [i] }));
  const pair = { text: "01", begin: 0, end: 2, kind: "word" as const, tokens: [0, 1] };

  it("sums what is looked at and averages what looks", () => {
    const weights = matrixOf([0.5, 0.25, 0.25], [0, 0.5, 0.5], [0.1, 0.2, 0.7]);
    const words = merged(weights, [pair, tokens[2]!], [pair, tokens[2]!]);
    expect(Array.from(words.values, (x) => Number(x.toFixed(6)))).toEqual([0.625, 0.375, 0.3, 0.7]);
  });

  it("keeps row sums, and scales nothing up where the end is dropped", () => {
    const all = picture(trace, theAlignment, "words", true)!;
    for (let i = 0; i < all.rows.length; ++i) expect(sum(row(all.weights, i))).toBeCloseTo(1, 3);
    const without = picture(trace, theAlignment, "words", false)!;
    expect(at(without.weights, 0, 0)).toBe(at(all.weights, 0, 0));
    expect(sum(row(without.weights, without.rows.length - 1))).toBeLessThan(1);
  });
});

describe("rollout", () => {
  const first = matrixOf([0.5, 0.5], [0.2, 0.8]);
  const second = matrixOf([1, 0], [0.6, 0.4]);

  it("of one layer is half the layer and half itself", () => {
    expect(Array.from(rollout([first]).values, (x) => Number(x.toFixed(6)))).toEqual([0.75, 0.25, 0.1, 0.9]);
  });

  it("multiplies later layers from the left", () => {
    // Â₂ Â₁ with Â₂ = [1 0; .3 .7]
    expect(Array.from(rollout([first, second]).values, (x) => Number(x.toFixed(6)))).toEqual([
      0.75, 0.25, 0.295, 0.705,
    ]);
  });

  it("keeps rows summing to one through encoder and alignment", () => {
    const rolled = throughEncoder(trace.alignment!, trace.attentions, "source")!;
    for (let i = 0; i < rolled.rows; ++i) expect(sum(row(rolled, i))).toBeCloseTo(1, 3);
  });

  it("gives a decoder's missing weight to the begin, which is not shown", () => {
    const self = {
      name: "d",
      layer: 1,
      rows: "target",
      columns: "target",
      heads: [matrixOf([0, 0, 0], [0.4, 0, 0], [0.3, 0.5, 0])],
    };
    const rolled = selfRollout([self], "target", true)!;
    // Row 1 reads the begin and token 0; itself is token 0, whose column therefore gets the residual half.
    expect(Array.from(rolled.values, (x) => Number(x.toFixed(6)))).toEqual([0, 0, 0, 0.7, 0, 0, 0.15, 0.75, 0]);
  });

  it("is not offered without an encoder's attentions", () => {
    expect(throughEncoder(trace.alignment!, [], "source")).toBeNull();
    const plain = readTrace(sampleTrace());
    expect(attentionOptions(plain).map((o) => o.value)).toEqual(["alignment"]);
    expect(attentionOptions(trace).map((o) => o.value)).toContain("rollout");
  });
});

describe("choosing", () => {
  it("picks a head, the mean or the largest", () => {
    const name = "decoder.layer2.source";
    const { heads } = trace.attentions.find((a) => a.name === name)!;
    expect(headCount(trace, name)).toBe(2);
    const of = (head: number) => picture(trace, { attention: name, head }, "tokens", true)!.weights.values;
    expect(of(2)).toEqual(heads[1]!.values);
    expect(of(0)).toEqual(mean(heads).values);
    expect(of(maxHead)).toEqual(largest(heads).values);
  });

  it("shows the encoder over its own words", () => {
    const self = picture(trace, { attention: "encoder.layer1.self", head: 1 }, "words", false)!;
    expect([self.rowName, self.columnName]).toEqual(["input", "input"]);
    expect(self.rows).toHaveLength(source.words.length);
  });

  it("falls back where the trace has no such attention or head", () => {
    expect(possibleChoice(trace, { attention: "gone", head: 3 })).toEqual(theAlignment);
    expect(possibleChoice(trace, { attention: "encoder.layer1.self", head: 9 }).head).toBe(0);
    expect(
      picture({ ...readTrace(sampleTrace()), alignment: undefined as never }, theAlignment, "words", false),
    ).toBeNull();
  });
});

describe("views", () => {
  it.each([
    [sampleTrace({ layers: 1 }), ["matrix", "lines", "heads", "beam"]],
    [captionTrace(), ["picture", "heads", "beam"]],
    [speechTrace(), ["matrix", "heads", "beam"]],
    [documentTrace(), ["text", "heads"]],
    [readingTrace(), ["text", "heads"]],
    [entailmentTrace(), ["matrix", "lines", "heads"]],
  ])("follow from the axes, case %#", (written, expected) => {
    const read = readTrace(written);
    expect(viewsOf(read, theAlignment)).toEqual(expected);
    expect(possibleView(read, theAlignment, "heads")).toBe("heads");
    expect(possibleView(read, theAlignment, "matrix")).toBe(expected[0]);
  });

  it("name the axes as a person would", () => {
    const names = (written: object) => {
      const { rowName, columnName } = picture(readTrace(written), theAlignment, "words", false)!;
      return [rowName, columnName];
    };
    expect(names(sampleTrace())).toEqual(["output", "input"]);
    expect(names(captionTrace())).toEqual(["output", "image"]);
    expect(names(documentTrace())).toEqual(["label", "input"]);
    expect(names(readingTrace())).toEqual(["answer", "document"]);
    expect(names(entailmentTrace())).toEqual(["hypothesis", "premise"]);
  });
});

describe("entropy", () => {
  it("is 0 for one word and ln m for an even look", () => {
    expect(entropy(Float32Array.of(0, 1, 0))).toBe(0);
    expect(entropy(Float32Array.of(0.25, 0.25, 0.25, 0.25))).toBeCloseTo(Math.log(4), 6);
  });
});

describe("reading", () => {
  const small = picture(readTrace(sampleTrace()), theAlignment, "words", false)!;
  it("says a cell, a row, a column, or nothing", () => {
    expect(reading(small, 0, 0)).toMatch(/^“le” looks at “the” with \d+ %$/);
    expect(reading(small, 1, null)).toMatch(/^“gouvernement” looks at “government” \d+ %/);
    expect(reading(small, null, 1)).toMatch(/^“government” is looked at by “gouvernement” \d+ %/);
    expect(reading(small, null, null)).toBe("");
    expect(readRows(small)).toHaveLength(small.rows.length);
  });

  it("names the strongest first and leaves out what is nearly nothing", () => {
    expect(strongest(Float32Array.of(0.2, 0.01, 0.79), 3)).toEqual([2, 0]);
  });
});

describe("thumbnails", () => {
  it("keep a single bright cell of a large matrix", () => {
    const large = matrixOf(...Array.from({ length: 200 }, () => new Array<number>(150).fill(0)));
    large.values[123 * 150 + 77] = 0.9;
    const small = thumbnail(large, 64);
    expect([small.rows, small.columns]).toEqual([64, 64]);
    expect(Math.max(...small.values)).toBeCloseTo(0.9, 6);
    expect(small.values.filter((x) => x > 0)).toHaveLength(1);
  });

  it("leave a small one as it is", () => {
    const small = matrixOf([0.1, 0.2], [0.3, 0.4]);
    expect(thumbnail(small, 64).values).toEqual(small.values);
  });
});
