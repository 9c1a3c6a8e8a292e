import { describe, expect, it } from "vitest";
import { twigs } from "../../src/logic/beam";
import { EventReader } from "../../src/logic/events";
import { beginning, grown } from "../../src/logic/growing";
import { picture, theAlignment } from "../../src/logic/picture";
import { readTrace, type WordsAxis } from "../../src/logic/trace";
import { sampleTrace } from "../sample";

describe("server-sent events", () => {
  const stream = ': hello\nevent: source\ndata: {"a":1}\n\nevent: token\ndata: one\ndata: two\n\ndata: plain\r\n\r\n';
  const events = [
    { name: "source", data: '{"a":1}' },
    { name: "token", data: "one\ntwo" },
    { name: "message", data: "plain" },
  ];

  it("come out of one piece", () => {
    expect(new EventReader().read(stream)).toEqual(events);
  });

  it("come out the same however the network cuts them", () => {
    for (let size = 1; size < stream.length; ++size) {
      const reader = new EventReader();
      const read = [];
      for (let i = 0; i < stream.length; i += size) read.push(...reader.read(stream.slice(i, i + size)));
      expect(read).toEqual(events);
    }
  });

  it("are not given before they are whole", () => {
    expect(new EventReader().read("event: token\ndata: x\n")).toEqual([]);
  });
});

describe("a growing translation", () => {
  const whole = readTrace(sampleTrace());
  const [source, target] = whole.axes as [WordsAxis, WordsAxis];
  const outputOf = (trace: typeof whole) => trace.axes.at(-1) as WordsAxis;

  it("has a row more with each token, at word level too", () => {
    let trace = beginning([source], "target");
    expect(picture(trace, theAlignment, "words", false)).toBeNull();
    target.tokens.forEach((token, step) => {
      const text = [...target.text].slice(0, token.end).join("");
      const weights = Array.from(whole.alignment!.values.subarray(step * 9, step * 9 + whole.alignment!.columns));
      trace = grown(trace, { step, token: token.text, text, weights });
      expect(trace.alignment!.rows).toBe(step + 1);
    });
    expect(outputOf(trace).tokens).toEqual(target.tokens);
    expect(picture(trace, theAlignment, "words", false)!.rows.map((r) => r.text)).toEqual(
      target.words.map((w) => w.text),
    );
  });

  it("grows without weights where the model has none", () => {
    const trace = grown(beginning([source], "target"), { step: 0, token: "▁le", text: "le" });
    expect(trace.alignment).toBeUndefined();
    expect(outputOf(trace).text).toBe("le");
  });
});

describe("a beam", () => {
  const { beam } = readTrace(sampleTrace({ beam: true }));

  it("gives each token's own probability and the text so far", () => {
    const steps = twigs(beam);
    expect(steps[1]![0]!.probability).toBeCloseTo(Math.exp(-0.1), 6);
    expect(steps[2]![2]!.text).toBe(" le la un");
    expect(steps.slice(0, 3).map((s) => s[0]!.token)).toEqual(["le", "gouv", "-ernement"]);
    expect(steps.at(-1)![0]).toMatchObject({ ended: true, chosen: true });
  });

  it("finds the whole way to the output from its end alone", () => {
    const only = beam.map((step, i) => step.map((h) => ({ ...h, chosen: h.chosen && i === beam.length - 1 })));
    expect(twigs(only).map((step) => step.map((t) => t.chosen))).toEqual(
      twigs(beam).map((s) => s.map((t) => t.chosen)),
    );
  });
});
