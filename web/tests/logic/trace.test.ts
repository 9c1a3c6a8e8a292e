import { describe, expect, it } from "vitest";
import { parseTraces, readTrace, TraceError, writeTrace } from "../../src/logic/trace";
import { sampleTrace } from "../sample";

const json = () => JSON.parse(JSON.stringify(sampleTrace({ layers: 2, heads: 3, beam: true, trust: true })));

describe("reading a trace", () => {
  it("takes every part", () => {
    const trace = readTrace(json());
    expect(trace.source.tokens[1]).toEqual({ text: "▁gove", begin: 4, end: 8, word: 1 });
    expect(trace.alignment).toMatchObject({ rows: trace.target.tokens.length, columns: trace.source.tokens.length });
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
    const trace = readTrace(json());
    expect(parseTraces(writeTrace(trace))).toEqual([trace]);
  });

  it("takes several as a list or one a line", () => {
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
    expect(readTrace({ format: "heed-trace", version: 1, source: text, target: text }).source.words[0]!.end).toBe(4);
    const past = { ...text, words: [{ text: "ok", begin: 5, end: 8 }] };
    expect(() => readTrace({ format: "heed-trace", version: 1, source: past, target: text })).toThrow(
      /words\[0\]\.end/,
    );
  });
});

type Change = (trace: ReturnType<typeof json>) => void;
const broken: [string, Change, RegExp][] = [
  ["another format", (t) => (t.format = "marian"), /not a trace of Heed/],
  ["a newer version", (t) => (t.version = 2), /version 2; this page reads version 1/],
  ["a missing text", (t) => delete t.source, /source is not an object/],
  ["a token without text", (t) => (t.source.tokens[2].text = 7), /source\.tokens\[2\]\.text is not text/],
  ["an offset beyond the text", (t) => (t.target.tokens[0].end = 999), /target\.tokens\[0\]\.end is 999/],
  ["a word that is not there", (t) => (t.source.tokens[0].word = 99), /source\.tokens\[0\]\.word is 99/],
  ["too few rows", (t) => t.alignment.pop(), /alignment has \d+ rows for \d+ tokens/],
  ["a short row", (t) => t.alignment[1].pop(), /alignment\[1\] has \d+ numbers/],
  ["a weight that is none", (t) => (t.alignment[1][2] = null), /alignment\[1\]\[2\] is not a number/],
  ["an attention without heads", (t) => (t.attentions[0].weights = []), /attentions\[0\]\.weights has no head/],
  ["a side that is none", (t) => (t.attentions[0].rows = "left"), /attentions\[0\]\.rows is neither/],
  ["a hypothesis from nowhere", (t) => (t.beam[1][0].from = 3), /beam\[1\]\[0\]\.from is 3/],
  ["trust in words", (t) => (t.trust.sufficiency = "good"), /trust\.sufficiency is not a number/],
  ["entropy of other tokens", (t) => t.trust.entropy.pop(), /trust\.entropy has/],
];

describe("a broken trace", () => {
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
