// Where things stand, in CSS pixels; no element is touched here.
import type { Twig } from "./beam";

export interface MatrixLayout {
  cellWidth: number;
  cellHeight: number;
  left: number; // width of the row labels
  top: number; // height of the column labels
  right: number; // what slanted labels need beyond the last column
  turn: 0 | 45 | 90; // degrees by which column labels are turned
  rowFont: number; // sizes of the labels
  columnFont: number;
  width: number; // of the whole
  height: number;
}

export interface MatrixNeeds {
  rows: number;
  columns: number;
  rowLabel: number; // widest, in pixels
  columnLabel: number;
  rowsInTime?: boolean; // the axis has a scale of seconds instead of a label for each
  columnsInTime?: boolean;
  available: number; // width of the place
}

const lineHeight = 20;
const widestLabel = 150;
const gap = 10;
const slant = Math.SQRT1_2; // 45°
const leastCell = 12; // one line of the smallest label; a larger matrix scrolls
const leastSlanted = 22;
const mostHeight = 720;

function clamp(x: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, x));
}

const fontFor = (cell: number) => clamp(Math.floor(cell - 2), 10, 14);

// Every label is written: straight where there is room, then slanted, then upright and smaller, and then it scrolls.
export function matrixLayout(needs: MatrixNeeds): MatrixLayout {
  const narrow = needs.available < 480;
  const left = Math.ceil(Math.min(needs.rowLabel, narrow ? 96 : widestLabel)) + gap;
  const columnLabel = Math.min(needs.columnLabel, widestLabel);
  const columns = Math.max(1, needs.columns);
  const room = (right: number) => Math.floor((needs.available - left - right) / columns);
  const overhang = Math.ceil(columnLabel * slant);
  let turn: 0 | 45 | 90 = 0;
  let cellWidth = clamp(room(0), leastCell, Math.max(64, columnLabel + 16));
  if (needs.columnsInTime) cellWidth = clamp((needs.available - left - 2) / columns, 4, 44);
  else if (columnLabel + 12 > Math.min(room(0), 96)) {
    turn = room(overhang) >= leastSlanted ? 45 : 90;
    cellWidth = clamp(room(turn === 45 ? overhang : 4), leastCell, 44);
  }
  const tall = mostHeight / Math.max(1, needs.rows);
  const cellHeight = needs.rowsInTime
    ? clamp(tall, 4, 36)
    : clamp(Math.floor(Math.min(cellWidth, tall)), needs.columnsInTime ? 24 : leastCell, 36);
  const columnFont = turn === 90 ? fontFor(cellWidth) : 14;
  const above = { 0: lineHeight, 45: overhang + 16, 90: Math.ceil((columnLabel * columnFont) / 14) + 6 }[turn];
  const right = turn === 45 ? overhang : 0;
  const top = above + gap / 2;
  return {
    cellWidth,
    cellHeight,
    left,
    top,
    right,
    turn,
    rowFont: fontFor(cellHeight),
    columnFont,
    width: left + columns * cellWidth + right,
    height: top + needs.rows * cellHeight,
  };
}

// The width that lets labels of the columns be read without turning them upright.
export function comfortableWidth(needs: MatrixNeeds): number {
  const { left, right } = matrixLayout(needs);
  return left + right + needs.columns * leastSlanted;
}

export interface Tick {
  seconds: number;
  text: string;
}

// Round seconds along a sound, at most so many.
export function timeTicks(seconds: number, most: number): Tick[] {
  if (!(seconds > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(seconds / Math.max(1, most)));
  const step = [1, 2, 5, 10].map((n) => n * power).find((s) => seconds / s <= most) ?? 10 * power;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return Array.from({ length: Math.floor(seconds / step + 1e-9) + 1 }, (_, i) => ({
    seconds: i * step,
    text: `${(i * step).toFixed(digits)} s`,
  }));
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
