import { describe, expect, it } from "vitest";
import { axisOf, parseTraces, readTrace, sizeOf, TraceError, type WordsAxis, writeTrace } from "../../src/logic/trace";
import {
  captionTrace,
  documentTrace,
  entailmentTrace,
  hierarchicalTrace,
  sampleTrace,
  selfAttentiveTrace,
  speechTrace,
} from "../sample";

const json = () => JSON.parse(JSON.stringify(sampleTrace({ layers: 2, heads: 3, beam: true, trust: true })));

describe("reading a trace", () => {
  it("takes every part", () => {
    const trace = readTrace(json());
    const [source, target] = trace.axes as [WordsAxis, WordsAxis];
    expect(trace.axes.map((axis) => [axis.name, axis.kind])).toEqual([
      ["source", "text"],
      ["target", "text"],
    ]);
    expect([trace.rows, trace.columns]).toEqual(["target", "source"]);
    expect(source.tokens[1]).toEqual({ text: "▁gove", begin: 4, end: 8, word: 1 });
    expect(trace.alignment).toMatchObject({ rows: target.tokens.length, columns: source.tokens.length });
    expect(trace.attentions.map((a) => a.heads.length)).toEqual([3, 3, 3, 3]);
    expect(trace.beam[0]![1]).toMatchObject({ token: "▁la", chosen: false });
    expect(trace.trust?.gradientAgreement).toBe(0.41);
  });

  it("needs only the two texts", () => {
    const { format, version, source, target } = json();
    const trace = readTrace({ format, version, source, target });
    expect(trace.alignment).toBeUndefined();
    expect(trace.attentions).toEqual([]);
  });

  it("writes what it read", () => {
    const trace = readTrace({ ...json(), unlinked_at_end: true });
    expect(trace.unlinkedAtEnd).toBe(true);
    expect(parseTraces(writeTrace(trace))).toEqual([trace]);
    expect(JSON.parse(writeTrace(trace))).toMatchObject({ version: 1, source: json().source, target: json().target });
  });

  it.each([
    captionTrace(),
    speechTrace(),
    documentTrace(),
    hierarchicalTrace(),
    selfAttentiveTrace(),
    entailmentTrace(),
  ])("of version 2 too: $job", (written) => {
    const trace = readTrace(written);
    expect(trace).toMatchObject({ version: 2, job: written.job });
    expect([trace.rows, trace.columns]).toEqual([written.alignment_rows, written.alignment_columns]);
    expect(trace.alignment!.columns).toBe(sizeOf(axisOf(trace, trace.columns)));
    expect(trace.choices).toEqual("choices" in written ? written.choices : []);
    expect(parseTraces(writeTrace(trace))).toEqual([trace]);
    expect(JSON.parse(writeTrace(trace)).axes).toEqual(JSON.parse(JSON.stringify(written.axes)));
  });

  it("takes the ends of sentences, and writes them back in both versions", () => {
    const document = readTrace(hierarchicalTrace()).axes[0] as WordsAxis;
    expect(document.sentenceEnds).toEqual([9, 22]);
    expect(document.tokens).toHaveLength(23); // the end is in no sentence
    const old = json();
    old.source.sentence_ends = [2, 5];
    expect(JSON.parse(writeTrace(readTrace(old))).source.sentence_ends).toEqual([2, 5]);
    expect(JSON.parse(writeTrace(readTrace(old))).target).not.toHaveProperty("sentence_ends");
  });

  it("takes an impossible hypothesis, which has no log-probability", () => {
    const trace = json();
    delete trace.beam[0][2].log_probability;
    const read = readTrace(trace);
    expect(read.beam[0]![2]!.logProbability).toBe(Number.NEGATIVE_INFINITY);
    expect(parseTraces(writeTrace(read))).toEqual([read]);
  });

  it("takes several as a list or one on each line", () => {
    const trace = readTrace(json());
    const one = writeTrace(trace);
    expect(parseTraces(`[${one},${one}]`)).toEqual([trace, trace]);
    expect(parseTraces(`${one}\n${one}\n`)).toEqual([trace, trace]);
    expect(() => parseTraces(`${one}\nnonsense`)).toThrow("The file is not JSON.");
  });

  it("counts code points, not UTF-16 units", () => {
    const text = {
      text: "👩🏽‍🚀 ok",
      tokens: [{ text: "▁👩🏽‍🚀", begin: 0, end: 4, word: 0 }],
      words: [{ text: "👩🏽‍🚀", begin: 0, end: 4 }],
    };
    const trace = readTrace({ format: "heed-trace", version: 1, source: text, target: text });
    expect((trace.axes[0] as WordsAxis).words[0]!.end).toBe(4);
    const past = { ...text, words: [{ text: "ok", begin: 5, end: 8 }] };
    expect(() => readTrace({ format: "heed-trace", version: 1, source: past, target: text })).toThrow(
      /words\[0\]\.end/,
    );
  });
});

type Change = (trace: ReturnType<typeof json>) => void;
const broken: [string, Change, RegExp][] = [
  ["another format", (t) => (t.format = "marian"), /not a trace of Heed/],
  ["a newer version", (t) => (t.version = 3), /version 3; this page reads versions 1 and 2/],
  ["a missing text", (t) => delete t.source, /source is not an object/],
  ["a token without text", (t) => (t.source.tokens[2].text = 7), /source\.tokens\[2\]\.text is not text/],
  ["an offset beyond the text", (t) => (t.target.tokens[0].end = 999), /target\.tokens\[0\]\.end is 999/],
  ["a word that is not there", (t) => (t.source.tokens[0].word = 99), /source\.tokens\[0\]\.word is 99/],
  ["too few rows", (t) => t.alignment.pop(), /alignment has \d+ rows for \d+ tokens/],
  ["a short row", (t) => t.alignment[1].pop(), /alignment\[1\] has \d+ numbers/],
  ["a weight that is none", (t) => (t.alignment[1][2] = null), /alignment\[1\]\[2\] is not a number/],
  ["an attention without heads", (t) => (t.attentions[0].weights = []), /attentions\[0\]\.weights has no head/],
  [
    "a side that is none",
    (t) => (t.attentions[0].rows = "left"),
    /attentions\[0\]\.rows is none of the axes “source”, “target”/,
  ],
  ["a hypothesis from nowhere", (t) => (t.beam[1][0].from = 3), /beam\[1\]\[0\]\.from is 3/],
  ["trust in words", (t) => (t.trust.sufficiency = "good"), /trust\.sufficiency is not a number/],
  ["sentences in words", (t) => (t.source.sentence_ends = "two"), /source\.sentence_ends is not a list/],
  ["a sentence of nothing", (t) => (t.source.sentence_ends = [0]), /source\.sentence_ends\[0\] is 0/],
  ["a sentence that ends twice", (t) => (t.source.sentence_ends = [2, 2]), /sentence_ends\[1\] is 2, .* from 3/],
  ["half a token", (t) => (t.source.sentence_ends = [1.5]), /source\.sentence_ends\[0\] is 1\.5/],
  ["a sentence beyond the text", (t) => (t.target.sentence_ends = [2, 99]), /target\.sentence_ends\[1\] is 99/],
  ["entropy of other tokens", (t) => t.trust.entropy.pop(), /trust\.entropy has/],
];

const brokenAxes: [string, Change, RegExp][] = [
  ["no axes", (t) => delete t.axes, /axes is not a list/],
  ["one axis", (t) => (t.axes = [t.axes[1]]), /axes has 1 axes/],
  ["a name twice", (t) => (t.axes[1].name = "image"), /axes has “image” twice/],
  ["an unknown kind", (t) => (t.axes[0].kind = "smell"), /axes\[0\]\.kind is “smell”/],
  ["a picture from elsewhere", (t) => (t.axes[0].preview = "https://a.b/c.png"), /axes\[0\]\.preview is not an image/],
  [
    "a picture that is a program",
    (t) => (t.axes[0].preview = "data:image/svg+xml;base64,AA"),
    /preview is not an image/,
  ],
  ["cells of nothing", (t) => (t.axes[0].rows = 0), /axes\[0\]\.rows is 0/],
  ["weights of another image", (t) => (t.axes[0].rows = 6), /numbers for 42 tokens/],
  ["an alignment between nothing", (t) => delete t.alignment_rows, /alignment_rows is none of the axes/],
  ["choices in words", (t) => (t.choices = [{ label: "a", probability: "high" }]), /choices\[0\]\.probability/],
];

describe("a broken trace", () => {
  it.each(brokenAxes)("of version 2 says where: %s", (_, change, message) => {
    const trace = JSON.parse(JSON.stringify(captionTrace()));
    change(trace);
    expect(() => readTrace(trace)).toThrow(message);
  });

  it.each(broken)("says where: %s", (_, change, message) => {
    const trace = json();
    change(trace);
    expect(() => readTrace(trace)).toThrow(TraceError);
    expect(() => readTrace(trace)).toThrow(message);
  });

  it.each(["", "{", "[]", "null", "3", '"text"'])("is told from JSON %j", (text) => {
    expect(() => parseTraces(text)).toThrow(TraceError);
  });
});
