// Pictures as SVG files, for the export. Measuring text is the caller's: it has a browser.
import { tokenOf, twigs } from "./beam";
import { colourOf, css, headColour, inkOn, shade, type Theme } from "./colour";
import { depths, excerpt, type Stretch, sentenceLooks } from "./document";
import {
  beamCell,
  beamLayout,
  headOffset,
  lineLayout,
  linesOf,
  type MatrixNeeds,
  matrixLayout,
  timeTicks,
} from "./layout";
import { deepest, type HeadRow, type Picture, shown, type TextHead } from "./picture";
import { axesInWords, percent, shortPercent } from "./reading";
import { placeOfMoment, secondsAt, waveformPath } from "./sound";
import type { Axis, Hypothesis, ImageAxis, Matrix } from "./trace";
import { at, type Label, row } from "./weights";

export type Measure = (text: string) => number;

const grounds = {
  light: { paper: "#ffffff", ink: "#1c2127", muted: "#56606b", line: "#c3cad1", accent: "#1c5a97" },
  dark: { paper: "#161b21", ink: "#e8eaed", muted: "#a3adb8", line: "#47525e", accent: "#8cc3f2" },
} as const satisfies Record<Theme, Record<string, string>>;

export function escaped(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  // What XML cannot hold becomes a replacement character.
  return text
    .replace(/[&<>"]/g, (c) => names[c]!)
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "\u{FFFD}");
}

// What is written beside the rows or above the columns, and where, counted in cells. A sound has a scale of seconds.
export function writtenLabels(axis: Axis, labels: Label[], length: number): { text: string; at: number }[] {
  if (axis.kind !== "sound") return labels.map((label, i) => ({ text: shown(label), at: i + 0.5 }));
  const ticks = timeTicks(secondsAt(axis, axis.rows), Math.max(1, length / 56));
  return ticks.map(({ seconds, text }) => ({ text, at: placeOfMoment(seconds, axis) * labels.length }));
}

export function matrixNeeds(picture: Picture, measure: Measure, available: number): MatrixNeeds {
  const { rows, columns, rowAxis, columnAxis } = picture;
  const [rowsInTime, columnsInTime] = [rowAxis.kind === "sound", columnAxis.kind === "sound"];
  return {
    rows: rows.length,
    columns: columns.length,
    rowLabel: rowsInTime ? measure("00.00 s") : widest(rows, measure),
    columnLabel: columnsInTime ? 0 : widest(columns, measure),
    rowsInTime,
    columnsInTime,
    available,
  };
}

export function widest(labels: Label[], measure: Measure): number {
  return labels.reduce((most, label) => Math.max(most, measure(shown(label))), 0);
}

function document(width: number, height: number, title: string, theme: Theme, body: string[]): string {
  const { paper, ink, muted } = grounds[theme];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title>`,
    `<style>text{font:14px system-ui,sans-serif;fill:${ink}}text.muted{font-size:13px;fill:${muted}}text.chosen{font-weight:600}</style>`,
    `<rect width="${width}" height="${height}" fill="${paper}"/>`,
    ...body,
    "</svg>",
    "",
  ].join("\n");
}

const margin = 16;

const waveHeight = 48;
const spectrogramHeight = 80;

// The waveform and the spectrogram of a sound that is looked at, from (left, top) on, and how high they are together.
function soundHeader(axis: Axis, left: number, top: number, width: number, theme: Theme) {
  const body: string[] = [];
  if (axis.kind !== "sound") return { body, height: 0 };
  const [waved, shows] = [axis.waveform.length > 0, axis.preview !== ""];
  if (waved) {
    body.push(
      `<path transform="translate(${left} ${top})" d="${waveformPath(axis.waveform, width, waveHeight)}" fill="${grounds[theme].accent}"/>`,
    );
  }
  const above = waved ? waveHeight + 4 : 0;
  if (shows) {
    body.push(
      `<image x="${left}" y="${top + above}" width="${width}" height="${spectrogramHeight}" preserveAspectRatio="none" href="${escaped(axis.preview)}"/>`,
    );
  }
  return { body, height: above + (shows ? spectrogramHeight + 4 : 0) };
}

export function matrixSvg(picture: Picture, title: string, theme: Theme, measure: Measure): string {
  const { rows, columns, weights } = picture;
  const layout = matrixLayout(matrixNeeds(picture, measure, 900));
  const left = margin + layout.left;
  const above = soundHeader(picture.columnAxis, left, margin, columns.length * layout.cellWidth, theme);
  const top = margin + above.height + layout.top;
  const body = above.body;
  const { turn } = layout;
  const most = deepest(picture);
  for (const { text, at: j } of writtenLabels(picture.columnAxis, columns, columns.length * layout.cellWidth)) {
    const x = left + j * layout.cellWidth;
    const y = top - 8;
    const anchor = turn ? "start" : "middle";
    const turned = turn ? ` dominant-baseline="central" transform="rotate(-${turn} ${x} ${y})"` : "";
    body.push(
      `<text x="${x}" y="${y}" style="font-size:${layout.columnFont}px" text-anchor="${anchor}"${turned}>${escaped(text)}</text>`,
    );
  }
  for (const { text, at: i } of writtenLabels(picture.rowAxis, rows, rows.length * layout.cellHeight)) {
    body.push(
      `<text x="${left - 8}" y="${top + i * layout.cellHeight}" style="font-size:${layout.rowFont}px" dominant-baseline="central" text-anchor="end">${escaped(text)}</text>`,
    );
  }
  rows.forEach((_, i) => {
    columns.forEach((_, j) => {
      const weight = at(weights, i, j);
      body.push(
        `<rect x="${left + j * layout.cellWidth}" y="${top + i * layout.cellHeight}" width="${Math.max(1, layout.cellWidth - 1)}" height="${Math.max(1, layout.cellHeight - 1)}" fill="${css(colourOf(weight / most, theme))}"><title>${weight.toFixed(3)}</title></rect>`,
      );
    });
  });
  const said = axesInWords(picture);
  const bottom = above.height + layout.height + 2 * margin + 16;
  body.push(`<text class="muted" x="${margin}" y="${bottom - 8}">${escaped(said)}</text>`);
  const width = Math.max(layout.width, Math.ceil(measure(said)));
  return document(width + 2 * margin, bottom + 8, title, theme, body);
}

// Input left, output right. Several pictures of the same words are several heads, each in its colour.
export function linesSvg(pictures: Picture[], title: string, theme: Theme, measure: Measure): string {
  const { rows, columns } = pictures[0]!;
  const label = Math.max(widest(rows, measure), widest(columns, measure));
  const layout = lineLayout(columns.length, rows.length, label, 720);
  const body: string[] = [];
  pictures.forEach((picture, head) => {
    const beside = headOffset(head, pictures.length);
    for (const { row, column, weight } of linesOf(picture.weights, pictures.length > 1 ? 0.1 : 0.03)) {
      body.push(
        `<path d="${curve(layout.left, layout.sourceY(column) + beside, layout.right, layout.targetY(row) + beside)}" transform="translate(${margin} ${margin})" fill="none" stroke="${headColour(head, theme)}" stroke-width="${lineWidth(weight)}" stroke-opacity="${lineOpacity(weight)}"/>`,
      );
    }
  });
  const word = (text: string, x: number, y: number, anchor: string) =>
    `<text x="${margin + x}" y="${margin + y}" dominant-baseline="central" text-anchor="${anchor}">${escaped(text)}</text>`;
  columns.forEach((c, j) => {
    body.push(word(shown(c), layout.left - 8, layout.sourceY(j), "end"));
  });
  rows.forEach((r, i) => {
    body.push(word(shown(r), layout.right + 8, layout.targetY(i), "start"));
  });
  return document(layout.width + 2 * margin, layout.height + 2 * margin, title, theme, body);
}

const thumbnailSide = 72;
const thumbnailGap = 12;

// One row for each layer, one column for each head. What the heads look at stands above them.
export function headsSvg(rows: HeadRow[], heading: string, title: string, theme: Theme, measure: Measure): string {
  const side = thumbnailSide;
  const left = margin + Math.ceil(Math.max(0, ...rows.map((r) => measure(r.title)))) + thumbnailGap;
  const top = margin + 48; // two lines of text
  const columns = Math.max(0, ...rows.map((r) => r.heads.length));
  const x = (h: number) => left + h * (side + thumbnailGap);
  const y = (i: number) => top + i * (side + thumbnailGap);
  const body = [`<text x="${margin}" y="${margin + 14}">${escaped(heading)}</text>`];
  for (let h = 0; h < columns; ++h) {
    body.push(`<text class="muted" x="${x(h) + side / 2}" y="${top - 8}" text-anchor="middle">Head ${h + 1}</text>`);
  }
  rows.forEach(({ title: name, heads }, i) => {
    const middle = y(i) + side / 2;
    body.push(`<text class="muted" x="${margin}" y="${middle}" dominant-baseline="central">${escaped(name)}</text>`);
    heads.forEach((weights, h) => {
      const scale = `${side / Math.max(1, weights.columns)} ${side / Math.max(1, weights.rows)}`;
      body.push(
        `<g transform="translate(${x(h)} ${y(i)}) scale(${scale})" shape-rendering="crispEdges">`,
        `<title>${escaped(name)}, head ${h + 1}</title>`,
        ...cells(weights, theme),
        "</g>",
      );
    });
  });
  const width = Math.max(x(columns), margin + measure(heading)) + margin;
  return document(Math.ceil(width), y(rows.length) + margin, title, theme, body);
}

// A matrix of 1 × 1 cells. There may be very many of them in a file, so equal neighbours of a row are one rectangle, and
// all rectangles of a colour are one path; the colour of nothing is the ground.
function cells(weights: Matrix, theme: Theme): string[] {
  const paths = new Map<number, string>();
  for (let i = 0; i < weights.rows; ++i) {
    const shades = Array.from(row(weights, i), shade);
    for (let begin = 0, end = 0; begin < shades.length; begin = end) {
      while (end < shades.length && shades[end] === shades[begin]) ++end;
      const colour = shades[begin]!;
      if (colour > 0) paths.set(colour, `${paths.get(colour) ?? ""}M${begin} ${i}H${end}V${i + 1}H${begin}z`);
    }
  }
  const fill = (colour: number) => `fill="${css(colourOf(colour / 255, theme))}"`;
  return [
    `<rect width="${weights.columns}" height="${weights.rows}" ${fill(0)}/>`,
    ...Array.from(paths, ([colour, d]) => `<path d="${d}" ${fill(colour)}/>`),
  ];
}

// One column for each step, a line from each hypothesis to those that continue it; the way to the output is drawn stronger.
export function beamSvg(beam: Hypothesis[][], title: string, theme: Theme, measure: Measure): string {
  const { paper, line, accent } = grounds[theme];
  const { width, height, top, insetX, insetY } = beamCell;
  const steps = twigs(beam);
  const layout = beamLayout(steps);
  const stroke = (chosen: boolean) => `stroke="${chosen ? accent : line}" stroke-width="${chosen ? 2 : 1}"`;
  const body = [`<g transform="translate(${margin} ${margin})">`];
  for (const { x1, y1, x2, y2, chosen } of layout.links) {
    body.push(`<path d="${curve(x1, y1, x2, y2)}" fill="none" ${stroke(chosen)}/>`);
  }
  steps.forEach((step, s) => {
    const middle = (s + 0.5) * width;
    const text = (y: number, kind: "" | "muted" | "chosen", words: string) =>
      `<text class="${kind}" x="${middle}" y="${y}" text-anchor="middle">${escaped(words)}</text>`;
    body.push(text(top - 10, "muted", `Step ${s + 1}`));
    for (const twig of step) {
      const y = top + twig.place * height;
      body.push(
        `<g><title>${escaped(`${twig.text.trim()}\nscore ${twig.score.toFixed(3)}`)}</title>`,
        `<rect x="${s * width + insetX}" y="${y + insetY}" width="${width - 2 * insetX}" height="${height - 2 * insetY}" rx="6" fill="${paper}" ${stroke(twig.chosen)}/>`,
        text(y + 23, twig.chosen ? "chosen" : "", fitted(tokenOf(twig), width - 2 * insetX - 12, measure)),
        text(y + 40, "muted", percent(twig.probability)),
        "</g>",
      );
    }
  });
  body.push("</g>");
  return document(layout.width + 2 * margin, layout.height + 2 * margin, title, theme, body);
}

// How much of an image is in the dark, 0 to 1, where the largest weight leaves it bright.
export function darkness(weight: number, most: number): number {
  return most > 0 ? 0.78 * (1 - weight / most) : 0.78;
}

const imageSide = 160;

// The image once for each word, bright where the word looked. `aspect` is its height by its width, if not the grid's.
export function imageSvg(picture: Picture, title: string, theme: Theme, aspect?: number): string {
  const axis = picture.columnAxis as ImageAxis;
  const across = Math.min(5, Math.max(1, picture.rows.length));
  const [width, height] = [imageSide, Math.round(imageSide * (aspect ?? axis.rows / axis.columns))];
  const body: string[] = [];
  picture.rows.forEach((label, i) => {
    const looks = row(picture.weights, i);
    const most = looks.reduce((a, b) => Math.max(a, b), 0);
    const x = margin + (i % across) * (width + thumbnailGap);
    const y = margin + Math.floor(i / across) * (height + 34);
    const scale = `${width / axis.columns} ${height / axis.rows}`;
    const dark = Array.from(looks, (weight, j) => {
      const opacity = darkness(weight, most).toFixed(3);
      return `<rect x="${j % axis.columns}" y="${Math.floor(j / axis.columns)}" width="1" height="1" fill-opacity="${opacity}"/>`;
    });
    body.push(
      `<text x="${x + width / 2}" y="${y + 16}" text-anchor="middle">${escaped(shown(label))}</text>`,
      `<g transform="translate(${x} ${y + 24})">`,
      axis.preview
        ? `<image width="${width}" height="${height}" preserveAspectRatio="none" href="${escaped(axis.preview)}"/>`
        : "",
      `<g transform="scale(${scale})" shape-rendering="crispEdges">${dark.join("")}</g></g>`,
    );
  });
  const lines = Math.ceil(picture.rows.length / across);
  return document(2 * margin + across * (width + thumbnailGap), 2 * margin + lines * (height + 34), title, theme, body);
}

const textWidth = 720;
const textLine = 28;

// Some words of a picture on grounds of their depths from (x, y) on, which is the first one's base line; gives also the
// last one's.
function tinted(
  picture: Picture,
  deep: Float32Array,
  { begin, end }: Stretch,
  x: number,
  y: number,
  theme: Theme,
  measure: Measure,
): { body: string[]; bottom: number } {
  const body: string[] = [];
  const looks = row(picture.weights, 0);
  const most = largestOf(deep);
  let [left, bottom] = [x, y];
  picture.columns.slice(begin, end).forEach((label, k) => {
    const j = begin + k;
    const text = shown(label);
    const width = measure(text) + 6;
    if (left > x && left + width > margin + textWidth) [left, bottom] = [x, bottom + textLine];
    const colour = colourOf(deep[j]! / most, theme);
    body.push(
      `<rect x="${left}" y="${bottom - 16}" width="${width}" height="22" rx="4" fill="${css(colour)}"><title>${looks[j]!.toFixed(3)}</title></rect>`,
      `<text x="${left + 3}" y="${bottom}" style="fill:${inkOn(colour)}">${escaped(text)}</text>`,
    );
    left += width + 3;
  });
  return { body, bottom };
}

const largestOf = (numbers: Float32Array) => numbers.reduce((a, b) => Math.max(a, b), 0) || 1;

const shareBar = 56;
const shareColumn = 112; // the bar and its number

// The words of a text on grounds of their depths, the largest the deepest; sentences below each other, each behind a bar
// of its share.
export function textSvg(picture: Picture, title: string, theme: Theme, measure: Measure): string {
  const sentences = sentenceLooks(picture);
  const deep = depths(picture, sentences);
  const body = [`<text class="chosen" x="${margin}" y="${margin + 16}">${escaped(shown(picture.rows[0]!))}</text>`];
  const most = Math.max(...sentences.map(({ share }) => share)) || 1;
  let y = margin + 48;
  const add = (stretch: Stretch, x: number) => {
    const words = tinted(picture, deep, stretch, x, y, theme, measure);
    body.push(...words.body);
    y = words.bottom + textLine;
  };
  if (sentences.length === 0) add({ begin: 0, end: picture.columns.length }, margin);
  for (const sentence of sentences) {
    if (sentence.number) {
      const width = (shareBar * sentence.share) / most;
      body.push(
        `<rect x="${margin}" y="${y - 11}" width="${width.toFixed(1)}" height="12" rx="3" fill="${grounds[theme].accent}"><title>${sentence.share.toFixed(3)}</title></rect>`,
        `<text class="muted" x="${margin + shareColumn - 10}" y="${y}" text-anchor="end">${shortPercent(sentence.share)}</text>`,
      );
    }
    add(sentence, margin + shareColumn);
    y += 6;
  }
  return document(textWidth + 2 * margin, Math.ceil(y), title, theme, body);
}

// How many words of a text are shown where it stands small beside others.
export const excerptWords = 60;

// The heads of a label that looks at a text, below each other, each with the words that it looked at most.
export function textHeadsSvg(
  heads: TextHead[],
  heading: string,
  title: string,
  theme: Theme,
  measure: Measure,
): string {
  const body = [`<text class="muted" x="${margin}" y="${margin + 16}">${escaped(heading)}</text>`];
  let y = margin + 48;
  for (const { title: name, picture } of heads) {
    const stretch = excerpt(row(picture.weights, 0), excerptWords);
    body.push(`<text class="chosen" x="${margin}" y="${y}">${escaped(name)}</text>`);
    const deep = depths(picture, sentenceLooks(picture));
    const words = tinted(picture, deep, stretch, margin, y + textLine, theme, measure);
    body.push(...words.body);
    y = words.bottom + textLine + 14;
  }
  return document(textWidth + 2 * margin, y, title, theme, body);
}

// As much of the text as has room.
function fitted(text: string, room: number, measure: Measure): string {
  if (measure(text) <= room) return text;
  const letters = [...text];
  while (letters.length > 0 && measure(`${letters.join("")}…`) > room) letters.pop();
  return `${letters.join("")}…`;
}

export function curve(x1: number, y1: number, x2: number, y2: number): string {
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

export function lineWidth(weight: number): string {
  return (1 + 3.5 * weight).toFixed(2);
}

export function lineOpacity(weight: number): string {
  return Math.min(1, 0.08 + 0.92 * weight).toFixed(3);
}
