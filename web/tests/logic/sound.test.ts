import { describe, expect, it } from "vitest";
import { clock, momentOfPlace, placeOfMoment, saidAt, secondsOf, waveformPath, wavOf } from "../../src/logic/sound";
import { readTrace, type SoundAxis } from "../../src/logic/trace";
import { speechTrace } from "../sample";

describe("a recording as a file", () => {
  it("is a WAV of one channel and 16 bits", () => {
    const bytes = wavOf(Float32Array.of(0, 1, -1, 0.5, 2), 16_000);
    const view = new DataView(bytes.buffer);
    const text = (at: number) => String.fromCharCode(...bytes.subarray(at, at + 4));
    expect([text(0), text(8), text(12), text(36)]).toEqual(["RIFF", "WAVE", "fmt ", "data"]);
    expect(view.getUint32(4, true)).toBe(bytes.length - 8);
    expect([view.getUint16(20, true), view.getUint16(22, true), view.getUint32(24, true)]).toEqual([1, 1, 16_000]);
    expect([view.getUint32(28, true), view.getUint16(32, true), view.getUint16(34, true)]).toEqual([32_000, 2, 16]);
    expect(view.getUint32(40, true)).toBe(10);
    expect(Array.from({ length: 5 }, (_, i) => view.getInt16(44 + 2 * i, true))).toEqual([
      0, 32767, -32767, 16384, 32767,
    ]);
  });
});

describe("a sound along its time", () => {
  const axis = readTrace(speechTrace()).axes[0] as SoundAxis; // 3.2 seconds of frames, 7.5 ms on both sides

  it("has moments between its ends", () => {
    expect(placeOfMoment(0.8075, axis)).toBeCloseTo(0.25);
    expect(momentOfPlace(0.25, axis)).toBeCloseTo(0.8075);
    expect(secondsOf(axis)).toBeCloseTo(3.215);
    expect([placeOfMoment(-1, axis), placeOfMoment(9, axis)]).toEqual([0, 1]);
    expect(placeOfMoment(1, { ...axis, rows: 0 })).toBe(0);
  });

  it("knows what is being said", () => {
    const said = [
      { text: "one", begin: 0.5, end: 1 },
      { text: "two", begin: 1, end: 1.25 },
    ];
    expect([0.4, 0.5, 1, 1.3].map((seconds) => saidAt(said, seconds))).toEqual([-1, 0, 1, -1]);
  });

  it("is drawn around the middle, the loudest over the whole height", () => {
    expect(waveformPath([0.25, 0.5], 4, 10)).toBe("M0 5L0 2.5H2L2 0H4L4 10H2L2 7.5H0z");
    expect(waveformPath([0, 0], 2, 10)).toBe("M0 5L0 5H1L1 5H2L2 5H1L1 5H0z");
    expect(waveformPath([], 4, 10)).toBe("");
  });

  it("has a clock", () => {
    expect([clock(0), clock(61.9), clock(3.26, true), clock(59.99, true), clock(60, true)]).toEqual([
      "0:00",
      "1:01",
      "0:03.2",
      "0:59.9",
      "1:00.0",
    ]);
  });
});

describe("a trace with a sound", () => {
  const broken = (change: (trace: ReturnType<typeof speechTrace>) => void) => {
    const trace = JSON.parse(JSON.stringify(speechTrace())) as ReturnType<typeof speechTrace>;
    change(trace);
    return () => readTrace(trace);
  };

  it("has its waveform and its times", () => {
    const trace = readTrace(speechTrace());
    expect((trace.axes[0] as SoundAxis).waveform).toHaveLength(320);
    expect(trace.times?.words.map(({ text }) => text)).toEqual(["turn", "the", "light", "off", "please"]);
  });

  it("plays nothing from elsewhere", () => {
    expect(readTrace(speechTrace("a", "data:audio/wav;base64,UklGRg==")).axes[0]).toMatchObject({
      playable: "data:audio/wav;base64,UklGRg==",
    });
    for (const address of ["https://example.org/a.wav", "data:text/html;base64,AAAA", "data:audio/wav;base64,<b>"]) {
      expect(broken((trace) => Object.assign(trace.axes[0]!, { playable: address }))).toThrow(/inside the trace/);
    }
  });

  it("is refused with amplitudes or times that cannot be", () => {
    expect(broken((trace) => Object.assign(trace.axes[0]!, { waveform: [0.5, 2] }))).toThrow(/waveform\[1\]/);
    expect(broken((trace) => Object.assign(trace.axes[0]!, { waveform: Array(5000).fill(0) }))).toThrow(/4096/);
    expect(broken((trace) => Object.assign(trace.times.words[1]!, { end: 0 }))).toThrow(/times\.words\[1\]/);
  });
});
