import { describe, expect, it } from "vitest";
import { colourOf, contrast, inkOn, lightness, pixels, type Rgb, type Theme } from "../../src/logic/colour";

// Machado, Oliveira, Fernandes 2009, severity 1, on linear light.
const blindness: Record<string, number[][]> = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};
const linear = (c: number) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
const coded = (c: number) => 255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055);
const seen = (colour: Rgb, by: number[][]) => {
  const light = colour.map(linear);
  return by.map((r) =>
    coded(
      Math.min(
        1,
        Math.max(
          0,
          r.reduce((s, w, i) => s + w * light[i]!, 0),
        ),
      ),
    ),
  ) as unknown as Rgb;
};

// Each step's part of the whole way.
const parts = (of: number[]) => of.slice(1).map((value, i) => (value - of[i]!) / (of.at(-1)! - of[0]!));

describe.each<Theme>(["light", "dark"])("the scale on a %s page", (theme) => {
  const steps = Array.from({ length: 11 }, (_, i) => colourOf(i / 10, theme));

  it("changes evenly in lightness", () => {
    const values = steps.map(lightness);
    expect(Math.abs(values.at(-1)! - values[0]!)).toBeGreaterThan(65);
    for (const part of parts(values)) expect(part).toBeCloseTo(0.1, 1);
  });

  it.each(Object.entries(blindness))("is told apart with %s", (_, by) => {
    const values = steps.map((c) => lightness(seen(c, by)));
    for (const part of parts(values)) expect(part).toBeGreaterThan(0.05);
  });

  it("has readable ink on every colour", () => {
    for (let i = 0; i <= 255; ++i) {
      const colour = colourOf(i / 255, theme);
      const ink: Rgb = inkOn(colour) === "#fff" ? [255, 255, 255] : [0, 0, 0];
      expect(contrast(colour, ink)).toBeGreaterThan(4.5);
    }
  });

  it("makes one pixel for each weight and clamps", () => {
    const bytes = pixels(Float32Array.of(-1, 0.5, 7), theme);
    expect(Array.from(bytes)).toEqual([
      ...colourOf(0, theme),
      255,
      ...colourOf(0.5, theme),
      255,
      ...colourOf(1, theme),
      255,
    ]);
  });
});
