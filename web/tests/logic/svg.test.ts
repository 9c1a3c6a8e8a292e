import { describe, expect, it } from "vitest";
import { picture, theAlignment } from "../../src/logic/picture";
import { escaped, linesSvg, matrixSvg } from "../../src/logic/svg";
import { readTrace } from "../../src/logic/trace";
import { trustLines } from "../../src/logic/trust_words";
import { sampleTrace } from "../sample";

const measure = (text: string) => 8 * text.length;
const hostile = readTrace(sampleTrace({}, '<script>alert("1")</script> & cat', "le chat \u0007 <b>"));
const shown = picture(hostile, theAlignment, "words", false)!;

describe("an exported picture", () => {
  it.each([
    ["matrix", matrixSvg(shown, "<title>", "light", measure)],
    ["lines", linesSvg([shown], "<title>", "dark", measure)],
  ])("%s shows hostile text and runs none of it", (_, svg) => {
    expect(svg).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;");
    expect(svg).not.toMatch(/<script|<b>/);
    expect(svg).not.toContain("\u0007");
    expect(svg.match(/<title>/g)!.length).toBe(svg.match(/<\/title>/g)!.length);
  });

  it("has a cell for each weight", () => {
    const cells = matrixSvg(shown, "", "light", measure).match(/<rect x=/g)!;
    expect(cells).toHaveLength(shown.rows.length * shown.columns.length);
  });

  it("replaces what XML cannot hold", () => {
    expect(escaped("a\u0000b\ud800c😀")).toBe("a\ufffdb\ufffdc😀");
  });
});

describe("trust in words", () => {
  it("has a sentence for each number that was measured", () => {
    expect(trustLines({})).toEqual([]);
    const lines = trustLines(readTrace(sampleTrace({ trust: true })).trust!);
    expect(lines.map((l) => l.value)).toEqual(["0.41", "0.52", "0.60", "0.10", "0.20"]);
    for (const { meaning } of lines) expect(meaning).toMatch(/^[A-Z].*\.$/);
  });

  it("says falls and rises as they are", () => {
    expect(trustLines({ comprehensiveness: 0.4 })[0]!.meaning).toContain("falls by 40 points");
    expect(trustLines({ sufficiency: -0.01 })[0]!.meaning).toContain("rises by 1 point of");
    expect(trustLines({ sufficiency: 0 })[0]!.meaning).toContain("does not change");
  });
});
