// Where things stand, in CSS pixels; no element is touched here.
import type { Twig } from "./beam";

export interface MatrixLayout {
  cellWidth: number;
  cellHeight: number;
  left: number; // width of the row labels
  top: number; // height of the column labels
  right: number; // what slanted labels need beyond the last column
  slanted: boolean;
  rowEvery: number; // every how many-th label is written; the others would overlap
  columnEvery: number;
  width: number; // of the whole
  height: number;
}

export interface MatrixNeeds {
  rows: number;
  columns: number;
  rowLabel: number; // widest, in pixels
  columnLabel: number;
  available: number; // width of the place
}

const lineHeight = 20;
const widestLabel = 150;
const gap = 10;
const slant = Math.SQRT1_2; // 45°

function clamp(x: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, x));
}

export function matrixLayout(needs: MatrixNeeds): MatrixLayout {
  const narrow = needs.available < 480;
  const left = Math.ceil(Math.min(needs.rowLabel, narrow ? 96 : widestLabel)) + gap;
  const columnLabel = Math.min(needs.columnLabel, widestLabel);
  const columns = Math.max(1, needs.columns);
  const straightWidth = Math.floor((needs.available - left) / columns);
  const slanted = columnLabel + 12 > Math.min(straightWidth, 96);
  const right = slanted ? Math.ceil(columnLabel * slant) : 0;
  const room = Math.floor((needs.available - left - right) / columns);
  const cellWidth = clamp(room, 6, slanted ? 44 : Math.max(64, columnLabel + 16));
  const cellHeight = clamp(Math.min(cellWidth, Math.floor(720 / Math.max(1, needs.rows))), 6, 36);
  const top = (slanted ? Math.ceil(columnLabel * slant) + 16 : lineHeight) + gap / 2;
  return {
    cellWidth,
    cellHeight,
    left,
    top,
    right,
    slanted,
    rowEvery: Math.ceil(13 / cellHeight),
    columnEvery: slanted ? Math.ceil(22 / cellWidth) : 1,
    width: left + columns * cellWidth + right,
    height: top + needs.rows * cellHeight,
  };
}

export interface Cell {
  row: number;
  column: number;
}

// The cell under a point of the cells' own area; null outside.
export function cellAt(layout: MatrixLayout, rows: number, columns: number, x: number, y: number): Cell | null {
  const column = Math.floor(x / layout.cellWidth);
  const row = Math.floor(y / layout.cellHeight);
  return column >= 0 && row >= 0 && column < columns && row < rows ? { row, column } : null;
}

// Where the arrow keys lead; the first key enters at the first cell.
export function moved(from: Cell | null, key: string, rows: number, columns: number): Cell | null {
  if (rows === 0 || columns === 0) return null;
  const steps: Record<string, (c: Cell) => Cell> = {
    ArrowLeft: (c) => ({ ...c, column: c.column - 1 }),
    ArrowRight: (c) => ({ ...c, column: c.column + 1 }),
    ArrowUp: (c) => ({ ...c, row: c.row - 1 }),
    ArrowDown: (c) => ({ ...c, row: c.row + 1 }),
    Home: (c) => ({ ...c, column: 0 }),
    End: (c) => ({ ...c, column: columns - 1 }),
    PageUp: (c) => ({ ...c, row: 0 }),
    PageDown: (c) => ({ ...c, row: rows - 1 }),
  };
  const step = steps[key];
  if (!step) return null;
  const to = from ? step(from) : { row: 0, column: 0 };
  return { row: clamp(to.row, 0, rows - 1), column: clamp(to.column, 0, columns - 1) };
}

export interface LineLayout {
  width: number;
  height: number;
  left: number; // where lines begin
  right: number; // where they end
  sourceY: (i: number) => number;
  targetY: (i: number) => number;
}

// Two columns of words; the shorter one is spread in the middle of the longer one's height.
export function lineLayout(sources: number, targets: number, label: number, available: number): LineLayout {
  const most = Math.max(1, sources, targets);
  const step = most > 80 ? 18 : 30;
  const margin = Math.min(label, available * 0.36) + 12;
  const width = Math.min(available, Math.max(320, 2 * margin + 320));
  const height = most * step;
  const place = (count: number) => (i: number) => (height - count * step) / 2 + (i + 0.5) * step;
  return {
    width,
    height,
    left: margin,
    right: width - margin,
    sourceY: place(sources),
    targetY: place(targets),
  };
}

// Heads that look at the same word run beside each other.
export function headOffset(head: number, heads: number): number {
  return (head - (heads - 1) / 2) * Math.min(3, 14 / heads);
}

export interface Line {
  row: number;
  column: number;
  weight: number;
}

// The lines worth drawing: what is nearly nothing is left out, and of very many only the strongest stay.
export function linesOf(
  weights: { rows: number; columns: number; values: Float32Array },
  least = 0.03,
  most = 4000,
): Line[] {
  const lines: Line[] = [];
  for (let i = 0; i < weights.values.length; ++i) {
    const weight = weights.values[i]!;
    if (weight >= least) lines.push({ row: Math.floor(i / weights.columns), column: i % weights.columns, weight });
  }
  if (lines.length <= most) return lines;
  return lines.sort((a, b) => b.weight - a.weight).slice(0, most);
}

export interface BeamLink {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  chosen: boolean;
}

// A search: its steps beside each other under their names, the hypotheses of a step below each other. Each has a box of
// cell size less twice the inset; links lead from the middle of a box's right side to that of the next one's left.
export const beamCell = { width: 124, height: 52, top: 30, insetX: 8, insetY: 5 };

export function beamLayout(steps: Twig[][]): { width: number; height: number; links: BeamLink[] } {
  const { width, height, top, insetX } = beamCell;
  const links = steps.flatMap((step, s) =>
    (s === 0 ? [] : step).map((twig) => ({
      x1: s * width - insetX,
      y1: top + (twig.from + 0.5) * height,
      x2: s * width + insetX,
      y2: top + (twig.place + 0.5) * height,
      chosen: twig.chosen,
    })),
  );
  const most = Math.max(0, ...steps.map((s) => s.length));
  return { width: steps.length * width, height: top + most * height, links };
}
