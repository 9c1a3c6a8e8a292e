// What the command computes too: tests/trace/shared_fixtures_test.cpp reads the same file.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { alignmentError, readLinks } from "../../src/logic/alignment_error";
import { picture, theAlignment } from "../../src/logic/picture";
import { type Matrix, readTrace, type WordsAxis } from "../../src/logic/trace";
import { rollout, sentenceEnds } from "../../src/logic/weights";
import { sampleTrace } from "../sample";

interface Fixtures {
  merge: { name: string; trace: unknown; by_words: number[][]; sentence_ends?: number[] }[];
  rollout: { name: string; layers: number[][][]; result: number[][] }[];
  alignment_error: { name: string; proposed: string; gold: string; error: number }[];
}

const path = new URL("../../../tests/shared/trace_logic.json", import.meta.url);
const fixtures = JSON.parse(readFileSync(path, "utf8")) as Fixtures;

const matrixOf = (rows: number[][]): Matrix => ({
  rows: rows.length,
  columns: rows[0]!.length,
  values: Float32Array.from(rows.flat()),
});

// Every number of the fixtures is a sum of few powers of two, so results are exact.
describe("the page computes as the command does", () => {
  it.each(fixtures.merge)("pieces become words: $name", ({ trace, by_words, sentence_ends }) => {
    const shown = picture(readTrace(trace), theAlignment, "words", true)!;
    expect(shown.weights).toEqual(matrixOf(by_words));
    expect(sentenceEnds(shown.columnAxis as WordsAxis, shown.columns)).toEqual(sentence_ends ?? []);
  });

  it.each(fixtures.rollout)("layers roll out: $name", ({ layers, result }) => {
    expect(rollout(layers.map(matrixOf))).toEqual(matrixOf(result));
  });

  it.each(fixtures.alignment_error)("links have an error: $name", ({ proposed, gold, error }) => {
    const trace = readTrace(sampleTrace({}, "a b c d", "w x y z"));
    expect(alignmentError(readLinks(proposed, trace).possible, readLinks(gold, trace))).toBeCloseTo(error, 12);
  });
});
