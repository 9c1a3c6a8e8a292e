import { describe, expect, it } from "vitest";
import { colourOf, css } from "../../src/logic/colour";
import { groups, headRows, picture, theAlignment } from "../../src/logic/picture";
import { beamSvg, escaped, headsSvg, imageSvg, linesSvg, matrixSvg, textSvg } from "../../src/logic/svg";
import { readTrace } from "../../src/logic/trace";
import { trustLines } from "../../src/logic/trust_words";
import { captionTrace, documentTrace, sampleTrace, speechTrace } from "../sample";

const measure = (text: string) => 8 * text.length;
const code = '<script>alert("1")</script>';
const hostile = readTrace(sampleTrace({}, `${code} & cat`, "le chat \u0007 <b>"));
const twig = { token: "", from: 0, logProbability: 0, score: 0, ended: false, chosen: true };
const texts = (svg: string) => Array.from(svg.matchAll(/<text[^>]*>([^<]*)/g), (found) => found[1]!);
const shown = picture(hostile, theAlignment, "words", false)!;

describe("an exported picture", () => {
  it.each([
    ["matrix", matrixSvg(shown, "<title>", "light", measure)],
    ["lines", linesSvg([shown], "<title>", "dark", measure)],
    ["heads", headsSvg([{ name: "", title: code, heads: [] }], "", "<title>", "light", measure)],
    ["search", beamSvg([[{ ...twig, token: code }]], "<title>", "dark", () => 0)],
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

  it("of heads has a row for each layer, a column for each head, and what they look at", () => {
    const trace = readTrace(sampleTrace({ layers: 2, heads: 3 }));
    const [group] = groups(trace);
    const svg = headsSvg(headRows(trace, group!), group!.title, "", "light", measure);
    expect(texts(svg)).toEqual(["Output looks at input", "Head 1", "Head 2", "Head 3", "Layer 1", "Layer 2"]);
    expect(svg.match(/(?<=<title>)Layer[^<]*/g)).toEqual(
      ["Layer 1", "Layer 2"].flatMap((layer) => [1, 2, 3].map((head) => `${layer}, head ${head}`)),
    );
  });

  it("of heads paints each weight in its colour, neighbours at once", () => {
    const heads = [{ rows: 2, columns: 3, values: Float32Array.of(0, 1, 1, 0.5, 1, 0) }];
    const svg = headsSvg([{ name: "a", title: "Layer 1", heads }], "", "", "light", measure);
    const fill = (weight: number) => `fill="${css(colourOf(weight, "light"))}"`;
    expect(svg).toContain(
      [
        `<rect width="3" height="2" ${fill(0)}/>`,
        `<path d="M1 0H3V1H1zM1 1H2V2H1z" ${fill(1)}/>`,
        `<path d="M0 1H1V2H0z" ${fill(0.5)}/>`,
      ].join("\n"),
    );
  });

  it("of a search has a box for each hypothesis, each linked to what it continues", () => {
    const { beam } = readTrace(sampleTrace({ beam: true }, "the cat", "la constitutionnalité"));
    const svg = beamSvg(beam, "", "light", measure);
    expect(texts(svg).filter((text) => /^Step|…$|end/.test(text))).toEqual([
      "Step 1",
      "Step 2",
      "Step 3",
      "-titutionna…", // as much as a box has room for
      "Step 4",
      "⟨end⟩",
    ]);
    expect(svg.match(/<rect x=/g)).toHaveLength(12);
    expect(svg.match(/<path /g)).toHaveLength(9);
    // Four boxes and the three links between them are the way to the output.
    expect(svg.match(/stroke-width="2"/g)).toHaveLength(7);
    expect(svg).toContain('<path d="M116 56C124 56 124 108 132 108"'); // from the first of step 1 to the second of step 2
    expect(svg).toContain("<title>la cons\nscore -0.100</title>");
  });

  it("of an image has it once for each word, darker where the word looked less", () => {
    const shown = picture(readTrace(captionTrace()), theAlignment, "words", false)!;
    const svg = imageSvg(shown, "", "light");
    expect(texts(svg)).toEqual(["a", "brown", "dog", "on", "grass"]);
    expect(svg.match(/<image /g)).toHaveLength(5);
    expect(svg.match(/<rect x=/g)).toHaveLength(5 * 49);
    expect(svg.match(/fill-opacity="0.000"/g)).toHaveLength(5); // the brightest place of each
  });

  it("of a sound has a scale of seconds", () => {
    const shown = picture(readTrace(speechTrace()), theAlignment, "words", false)!;
    const svg = matrixSvg(shown, "", "light", measure);
    expect(texts(svg).slice(0, 3)).toEqual(["0.0 s", "0.5 s", "1.0 s"]);
    expect(texts(svg).slice(-2)).toEqual([
      "please",
      "Each row is a word of the output, each column a moment of the speech.",
    ]);
  });

  it("of a text has the label and every word", () => {
    const shown = picture(readTrace(documentTrace("so <b>good</b>")), theAlignment, "words", false)!;
    expect(texts(textSvg(shown, "", "light", measure))).toEqual(["positive", "so", "&lt;b&gt;good&lt;/b&gt;"]);
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
    expect(lines.map((l) => l.random)).toEqual(["", "", "0.30", "0.40", ""]); // where there is a random order
    for (const { meaning } of lines) expect(meaning).toMatch(/^[A-Z].*\.$/);
  });

  it("says falls and rises as they are", () => {
    expect(trustLines({ comprehensiveness: 0.4 })[0]!.meaning).toContain("falls by 40 percentage points");
    expect(trustLines({ sufficiency: -0.01 })[0]!.meaning).toContain("rises by 1 percentage point;");
    expect(trustLines({ sufficiency: 0 })[0]!.meaning).toContain("does not change");
  });
});
