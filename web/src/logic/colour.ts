// A sequential scale whose lightness changes evenly, so that it reads the same with every kind of colour vision: from
// the page's own ground to deep blue on a light page, to pale yellow on a dark one.

export type Theme = "light" | "dark";
export type Rgb = readonly [number, number, number];

const stops: Record<Theme, readonly string[]> = {
  light: ["#f4f5f7", "#b9d4e8", "#5b9bc8", "#1f5f9e", "#0b2a5b"],
  dark: ["#1c2128", "#23466b", "#3f7f8f", "#9dbb7c", "#fdf0a6"],
};

function parse(hex: string): Rgb {
  const n = Number.parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

const toLinear = (c: number) => (c <= 0.04045 * 255 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);

// Relative luminance as WCAG defines it.
export function luminance([r, g, b]: Rgb): number {
  return 0.2126 * toLinear(r) + 0.7152 * toLinear(g) + 0.0722 * toLinear(b);
}

// CIE lightness, 0 to 100.
export function lightness(colour: Rgb): number {
  const y = luminance(colour);
  return y > 216 / 24389 ? 116 * Math.cbrt(y) - 16 : (y * 24389) / 27;
}

export function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

function between(points: readonly Rgb[], place: number): Rgb {
  const i = Math.min(points.length - 2, Math.floor(place));
  const [a, b] = [points[i]!, points[i + 1]!];
  const f = place - i;
  return [a[0] + f * (b[0] - a[0]), a[1] + f * (b[1] - a[1]), a[2] + f * (b[2] - a[2])];
}

// 256 colours whose lightness goes evenly from the first stop's to the last's, found on the line through the stops.
function evenScale(theme: Theme): Rgb[] {
  const points = stops[theme].map(parse);
  const fine = Array.from({ length: 4097 }, (_, i) => between(points, (i / 4096) * (points.length - 1)));
  const [first, last] = [lightness(fine[0]!), lightness(fine.at(-1)!)];
  let i = 0;
  return Array.from({ length: 256 }, (_, step) => {
    const wanted = first + (step / 255) * (last - first);
    while (i < 4096 && Math.abs(lightness(fine[i]!) - first) < Math.abs(wanted - first)) ++i;
    return fine[i]!.map(Math.round) as unknown as Rgb;
  });
}

const scales: Record<Theme, Rgb[]> = { light: evenScale("light"), dark: evenScale("dark") };

export function shade(weight: number): number {
  return Math.round(255 * Math.min(1, Math.max(0, weight)));
}

export function colourOf(weight: number, theme: Theme): Rgb {
  return scales[theme][shade(weight)]!;
}

// With commas, which every reader of SVG knows.
export function css([r, g, b]: Rgb): string {
  return `rgb(${r},${g},${b})`;
}

// Black or white, whichever is read better on the colour.
export function inkOn(colour: Rgb): string {
  return contrast(colour, [255, 255, 255]) >= contrast(colour, [0, 0, 0]) ? "#fff" : "#000";
}

// RGBA bytes of a matrix, one pixel for each weight.
export function pixels(values: Float32Array, theme: Theme): Uint8ClampedArray<ArrayBuffer> {
  const scale = scales[theme];
  const bytes = new Uint8ClampedArray(values.length * 4);
  for (let i = 0; i < values.length; ++i) {
    const [r, g, b] = scale[shade(values[i]!)]!;
    bytes.set([r, g, b, 255], i * 4);
  }
  return bytes;
}

// Okabe, Ito 2008: told apart with every kind of colour vision. One for each head, then again from the first.
const distinct: Record<Theme, readonly string[]> = {
  light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b37c00", "#2b93c9", "#7a6f00", "#444444"],
  dark: ["#56b4e9", "#ff9248", "#2fc79a", "#e6a3c8", "#f0b429", "#8fd0f5", "#f0e442", "#cccccc"],
};

export function headColour(head: number, theme: Theme): string {
  return distinct[theme][head % distinct[theme].length]!;
}
