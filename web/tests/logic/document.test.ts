import { describe, expect, it } from "vitest";
import { depths, excerpt, sentenceLooks } from "../../src/logic/document";
import { groups, meanHead, picture, textHeads, theAlignment, viewsOf } from "../../src/logic/picture";
import { axesInWords, reading } from "../../src/logic/reading";
import { textHeadsSvg, textSvg } from "../../src/logic/svg";
import { readTrace, type WordsAxis } from "../../src/logic/trace";
import { labels, row, sentenceEnds } from "../../src/logic/weights";
import { conditionalTrace, documentTrace, entailmentTrace, hierarchicalTrace, selfAttentiveTrace } from "../sample";

const measure = (text: string) => 8 * text.length;
const texts = (svg: string) => Array.from(svg.matchAll(/<text[^>]*>([^<]*)/g), (found) => found[1]!);

// "Good cats. Bad." in pieces: two sentences, the first of three pieces and two words, and an end in none of them.
const pieces = {
  name: "document",
  kind: "document",
  text: "Good cats. Bad.",
  tokens: [
    { text: "▁Good", begin: 0, end: 4, word: 0 },
    { text: "▁cat", begin: 5, end: 8, word: 1 },
    { text: "s.", begin: 8, end: 10, word: 1 },
    { text: "▁Bad.", begin: 11, end: 15, word: 2 },
    { text: "</s>", begin: 15, end: 15, word: -1 },
  ],
  words: [
    { text: "Good", begin: 0, end: 4 },
    { text: "cats.", begin: 5, end: 10 },
    { text: "Bad.", begin: 11, end: 15 },
  ],
  sentence_ends: [3, 4],
};
const label = {
  name: "label",
  kind: "label",
  text: "pos",
  tokens: [{ text: "pos", begin: 0, end: 3, word: 0 }],
  words: [{ text: "pos", begin: 0, end: 3 }],
};
const traceOf = (axis: object, weights: number[]) =>
  readTrace({
    format: "heed-trace",
    version: 2,
    job: "classification",
    axes: [axis, label],
    alignment: [weights],
    alignment_rows: "label",
    alignment_columns: "document",
  });
const small = traceOf(pieces, [0.0625, 0.125, 0.0625, 0.75, 0]);
const shownAs = (level: "words" | "legible" | "tokens", keepEnd = false) =>
  picture(small, theAlignment, level, keepEnd)!;

describe("the ends of sentences", () => {
  const axis = small.axes[0] as WordsAxis;
  it("stand behind the word of their last token", () => {
    expect(sentenceEnds(axis, labels(axis, "words", true))).toEqual([2, 3]);
    expect(sentenceEnds(axis, labels(axis, "legible", false))).toEqual([2, 3]);
    expect(sentenceEnds(axis, labels(axis, "tokens", true))).toEqual([3, 4]);
  });

  it("stay inside the text where a sentence has the end that is dropped", () => {
    const reaching = { ...axis, sentenceEnds: [3, 5] };
    expect(sentenceEnds(reaching, labels(reaching, "words", false))).toEqual([2, 3]);
    expect(sentenceEnds(reaching, labels(reaching, "words", true))).toEqual([2, 4]);
  });
});

describe("a document", () => {
  it("has a share for each sentence, and the end beside them if it is kept", () => {
    const sentences = [
      { begin: 0, end: 2, number: 1, share: 0.25 },
      { begin: 2, end: 3, number: 2, share: 0.75 },
    ];
    expect(sentenceLooks(shownAs("words"))).toEqual(sentences);
    expect(sentenceLooks(shownAs("words", true))).toEqual([...sentences, { begin: 3, end: 4, number: null, share: 0 }]);
    expect(sentenceLooks(shownAs("tokens")).map(({ end, share }) => [end, share])).toEqual([
      [3, 0.25],
      [4, 0.75],
    ]);
  });

  it("has words of depth √p_s · p_w", () => {
    const shown = shownAs("words", true);
    const deep = depths(shown, sentenceLooks(shown));
    expect(deep[0]).toBeCloseTo(Math.sqrt(0.25) * 0.25, 6);
    expect(deep[1]).toBeCloseTo(Math.sqrt(0.25) * 0.75, 6);
    expect(deep[2]).toBeCloseTo(Math.sqrt(0.75) * 1, 6);
    expect(deep[3]).toBe(0); // nothing of nothing
  });

  it("without sentences has the weights themselves", () => {
    const shown = picture(readTrace(documentTrace()), theAlignment, "words", false)!;
    expect(sentenceLooks(shown)).toEqual([]);
    expect(depths(shown, [])).toEqual(row(shown.weights, 0));
  });

  it("has no empty sentence where one word reaches over an end", () => {
    const joined = {
      ...pieces,
      text: "yes.no. so",
      tokens: [
        { text: "yes.", begin: 0, end: 4, word: 0 },
        { text: "no.", begin: 4, end: 7, word: 0 },
        { text: "so", begin: 8, end: 10, word: 1 },
      ],
      words: [
        { text: "yes.no.", begin: 0, end: 7 },
        { text: "so", begin: 8, end: 10 },
      ],
      sentence_ends: [1, 2, 3],
    };
    const shown = picture(traceOf(joined, [0.25, 0.25, 0.5]), theAlignment, "words", false)!;
    expect(sentenceLooks(shown).map(({ begin, end, number }) => [begin, end, number])).toEqual([
      [0, 1, 1],
      [1, 2, 2],
    ]);
  });

  it("says both numbers of a word", () => {
    expect(reading(shownAs("words"), 0, 1)).toBe(
      "“pos” looks at “cats.” with 19 %: sentence 1 has 25 % of the attention, this word 75 % of that",
    );
    expect(reading(shownAs("words", true), 0, 3)).toBe("“pos” looks at the end of the sentence with 0 %");
  });

  it("is exported with a bar and a number for each sentence", () => {
    const svg = textSvg(shownAs("words"), "", "light", measure);
    expect(texts(svg)).toEqual(["pos", "25 %", "Good", "cats.", "75 %", "Bad."]);
    const bars = Array.from(svg.matchAll(/width="([\d.]+)" height="12"/g), (found) => Number(found[1]));
    expect(bars).toHaveLength(2);
    expect(bars[1]! / bars[0]!).toBeCloseTo(3, 1);
    const many = textSvg(picture(readTrace(hierarchicalTrace()), theAlignment, "words", false)!, "", "light", measure);
    expect(texts(many).filter((text) => text.endsWith("%"))).toEqual(["33 %", "67 %"]);
  });
});

describe("an excerpt", () => {
  it("is the stretch with the most of the look, the first of equal ones", () => {
    const looks = Float32Array.of(0.1, 0.1, 0.1, 0.3, 0.3, 0.1);
    expect(excerpt(looks, 2)).toEqual({ begin: 3, end: 5 });
    expect(excerpt(looks, 3)).toEqual({ begin: 2, end: 5 });
    expect(excerpt(looks, 6)).toEqual({ begin: 0, end: 6 });
    expect(excerpt(looks, 60)).toEqual({ begin: 0, end: 6 });
    expect(excerpt(new Float32Array(5).fill(0.2), 2)).toEqual({ begin: 0, end: 2 });
    expect(excerpt(new Float32Array(0), 2)).toEqual({ begin: 0, end: 0 });
  });
});

describe("the heads of a label", () => {
  const trace = readTrace(selfAttentiveTrace(undefined, undefined, 3));
  const [group] = groups(trace);
  const heads = textHeads(trace, group!, "words", false);

  it("are their mean, then each of them", () => {
    expect(heads.map(({ title }) => title)).toEqual(["Mean of all heads", "Head 1", "Head 2", "Head 3"]);
    expect(heads[0]!.choice).toEqual({ attention: "label.document", head: meanHead });
    expect(heads[2]!.picture.weights.values).toEqual(trace.attentions[0]!.heads[1]!.values);
    expect(Array.from(heads[0]!.picture.weights.values)).toEqual(
      Array.from(trace.alignment!.values, (weight) => expect.closeTo(weight, 5)),
    );
  });

  it("are no texts where words look", () => {
    const pair = readTrace(entailmentTrace());
    expect(textHeads(pair, groups(pair)[0]!, "words", false)).toEqual([]);
  });

  it("are exported below each other, each with as many words as have room", () => {
    const svg = textHeadsSvg(heads, group!.title, "", "dark", measure);
    const written = texts(svg);
    expect(written.filter((text) => /ead/.test(text))).toEqual(["Mean of all heads", "Head 1", "Head 2", "Head 3"]);
    expect(written[0]).toBe("Label looks at input");
    expect(written.filter((text) => text === "wonderful,")).toHaveLength(4);
  });
});

describe("a pair", () => {
  it("has a matrix that names both", () => {
    const shown = picture(readTrace(entailmentTrace()), theAlignment, "words", false)!;
    expect(axesInWords(shown)).toBe("Each row is a word of the hypothesis, each column a word of the premise.");
  });

  it("without attention has no picture and no heads to choose", () => {
    const trace = readTrace(conditionalTrace("a man sleeps", "a man rests"));
    expect(picture(trace, theAlignment, "words", false)).toBeNull();
    expect(viewsOf(trace, theAlignment)).toEqual(["text"]);
    expect(trace.choices[0]).toEqual({ label: "entailment", probability: 0.7 });
  });
});
