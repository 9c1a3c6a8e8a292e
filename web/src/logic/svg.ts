// Pictures as SVG files, for the export. Measuring text is the caller's: it has a browser.
import { colourOf, css, headColour, type Theme } from "./colour";
import { headOffset, lineLayout, linesOf, matrixLayout } from "./layout";
import { type Picture, shown } from "./picture";
import { at, type Label } from "./weights";

export type Measure = (text: string) => number;

const grounds: Record<Theme, { paper: string; ink: string }> = {
  light: { paper: "#ffffff", ink: "#1c2127" },
  dark: { paper: "#161b21", ink: "#e8eaed" },
};

export function escaped(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  // What XML cannot hold becomes a replacement character.
  return text
    .replace(/[&<>"]/g, (c) => names[c]!)
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "\u{FFFD}");
}

export function widest(labels: Label[], measure: Measure): number {
  return labels.reduce((most, label) => Math.max(most, measure(shown(label))), 0);
}

function document(width: number, height: number, title: string, theme: Theme, body: string[]): string {
  const { paper, ink } = grounds[theme];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title>`,
    `<style>text{font:14px system-ui,sans-serif;fill:${ink}}</style>`,
    `<rect width="${width}" height="${height}" fill="${paper}"/>`,
    ...body,
    "</svg>",
    "",
  ].join("\n");
}

const margin = 16;

export function matrixSvg(picture: Picture, title: string, theme: Theme, measure: Measure): string {
  const { rows, columns, weights } = picture;
  const layout = matrixLayout({
    rows: rows.length,
    columns: columns.length,
    rowLabel: widest(rows, measure),
    columnLabel: widest(columns, measure),
    available: 900,
  });
  const left = margin + layout.left;
  const top = margin + layout.top;
  const body: string[] = [];
  columns.forEach((label, j) => {
    const x = left + (j + 0.5) * layout.cellWidth;
    const y = top - 8;
    const place = layout.slanted ? `text-anchor="start" transform="rotate(-45 ${x} ${y})"` : 'text-anchor="middle"';
    body.push(`<text x="${x}" y="${y}" ${place}>${escaped(shown(label))}</text>`);
  });
  rows.forEach((label, i) => {
    const y = top + (i + 0.5) * layout.cellHeight;
    body.push(
      `<text x="${left - 8}" y="${y}" dominant-baseline="central" text-anchor="end">${escaped(shown(label))}</text>`,
    );
    columns.forEach((_, j) => {
      const weight = at(weights, i, j);
      body.push(
        `<rect x="${left + j * layout.cellWidth}" y="${top + i * layout.cellHeight}" width="${layout.cellWidth - 1}" height="${layout.cellHeight - 1}" fill="${css(colourOf(weight, theme))}"><title>${weight.toFixed(3)}</title></rect>`,
      );
    });
  });
  return document(layout.width + 2 * margin, layout.height + 2 * margin, title, theme, body);
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
