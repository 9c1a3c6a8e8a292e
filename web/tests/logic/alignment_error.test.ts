import { describe, expect, it } from "vitest";
import { aligningHeads, alignmentError, hardLinks, headsByError, readLinks } from "../../src/logic/alignment_error";
import { readTrace } from "../../src/logic/trace";
import { sampleTrace } from "../sample";

const trace = readTrace(sampleTrace({}, "a b c d", "w x y z"));
const set = (text: string) => new Set(text.split(" "));

describe("links", () => {
  it("are sure or possible, sure ones among the possible, each once", () => {
    expect(readLinks(" 0-0 1p2  3?1\t0-0 01-1", trace)).toEqual({
      sure: set("0-0 1-1"),
      possible: set("0-0 1-2 3-1 1-1"),
    });
    expect(readLinks("", trace)).toEqual({ sure: new Set(), possible: new Set() });
  });

  it.each(["0", "0-", "-0", "0:1", "0-1-2", "0P1", "1.5-2", "a-b"])("refuse %s", (text) => {
    expect(() => readLinks(`0-0 ${text}`, trace)).toThrow(`“${text}” is no link`);
  });

  it.each(["4-0", "0p4"])("refuse %s, whose words are not there", (text) => {
    expect(() => readLinks(text, trace)).toThrow("the input has 4, the output 4, counted from 0");
  });

  it("of a head go to the largest weight of each output word, the first of equal ones", () => {
    const weights = { rows: 3, columns: 2, values: Float32Array.of(0.4, 0.6, 0.5, 0.5, 0, 0) };
    expect(hardLinks(weights)).toEqual(set("1-0 0-1 0-2"));
    expect(hardLinks({ rows: 2, columns: 0, values: new Float32Array(0) })).toEqual(new Set());
  });
});

describe("the alignment error", () => {
  const gold = readLinks("0-0 1-1 2p1 2p2", trace);

  it.each([
    // |A ∩ S|, |A ∩ P|, |A| + |S|
    ["0-0 1-1", 0], // 2, 2, 4
    ["0-0 1-1 2-1", 0], // 2, 3, 5: a possible link costs nothing
    ["0-0 2-1", 1 - 3 / 4], // 1, 2, 4
    ["0-0 1-1 2-2 3-3", 1 - 5 / 6], // 2, 3, 6
    ["3-0 3-1", 1], // 0, 0, 4
  ])("of %s is %f", (proposed, error) => {
    expect(alignmentError(set(proposed), gold)).toBeCloseTo(error, 12);
  });

  it("is 0 where there is nothing to find and nothing was found", () => {
    expect(alignmentError(new Set(), { sure: new Set(), possible: new Set() })).toBe(0);
  });
});

describe("heads", () => {
  // Two words and an end on each side; the output's first word is two pieces.
  const piece = (text: string, begin: number, end: number, word: number) => ({ text, begin, end, word });
  const source = {
    text: "a b",
    tokens: [piece("▁a", 0, 1, 0), piece("▁b", 2, 3, 1), piece("</s>", 3, 3, -1)],
    words: [
      { text: "a", begin: 0, end: 1 },
      { text: "b", begin: 2, end: 3 },
    ],
  };
  const target = {
    text: "xx y",
    tokens: [piece("▁x", 0, 1, 0), piece("x", 1, 2, 0), piece("▁y", 3, 4, 1), piece("</s>", 4, 4, -1)],
    words: [
      { text: "xx", begin: 0, end: 2 },
      { text: "y", begin: 3, end: 4 },
    ],
  };
  const end = [0, 0, 1];
  const crossing = [[0.1, 0.2, 0.7], [0.3, 0.4, 0.3], [0.6, 0.1, 0.3], end]; // 1-0 0-1, were it not for the end
  const along = [[0.9, 0.1, 0], [0.4, 0.6, 0], [0, 1, 0], end]; // 0-0 1-1, as the mean of the pieces
  const first = [[1, 0, 0], [1, 0, 0], [1, 0, 0], end]; // 0-0 0-1
  const cross = (layer: number, ...weights: number[][][]) => ({
    name: `decoder.layer${layer}.source`,
    layer,
    rows: "target",
    columns: "source",
    weights,
  });
  const self = { name: "encoder.layer1.self", layer: 1, rows: "source", columns: "source", weights: [[end, end, end]] };
  const small = readTrace({
    format: "heed-trace",
    version: 1,
    source,
    target,
    attentions: [self, cross(1, crossing, first), cross(2, along, first)],
  });

  it("are those that look from the output at the input, between words and without ends, the best first", () => {
    expect(aligningHeads(small)).toBe(4);
    expect(headsByError(small, readLinks("0-0 1-1", small))).toEqual([
      { choice: { attention: "decoder.layer2.source", head: 1 }, title: "Layer 2, head 1", error: 0 },
      { choice: { attention: "decoder.layer1.source", head: 2 }, title: "Layer 1, head 2", error: 0.5 },
      { choice: { attention: "decoder.layer2.source", head: 2 }, title: "Layer 2, head 2", error: 0.5 },
      { choice: { attention: "decoder.layer1.source", head: 1 }, title: "Layer 1, head 1", error: 1 },
    ]);
    expect(headsByError(small, readLinks("1-0 0-1", small))[0]!.title).toBe("Layer 1, head 1");
  });
});
