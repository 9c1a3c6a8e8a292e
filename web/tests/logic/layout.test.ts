import { describe, expect, it } from "vitest";
import { cellAt, lineLayout, linesOf, matrixLayout, moved } from "../../src/logic/layout";

const needs = { rows: 7, columns: 7, rowLabel: 80, columnLabel: 70, available: 700 };

describe("a matrix", () => {
  it("fits the width of a desktop and of a phone", () => {
    expect(matrixLayout(needs).width).toBeLessThanOrEqual(700);
    expect(matrixLayout({ ...needs, available: 320 }).width).toBeLessThanOrEqual(320);
  });

  it("writes labels straight where they fit, slanted where they do not", () => {
    expect(matrixLayout({ ...needs, columns: 4 }).slanted).toBe(false);
    expect(matrixLayout({ ...needs, columns: 12 }).slanted).toBe(true);
  });

  it("of 200 tokens keeps cells that can be hit, and leaves out labels", () => {
    const layout = matrixLayout({ ...needs, rows: 200, columns: 200 });
    expect(layout.cellWidth).toBeGreaterThanOrEqual(6);
    expect(layout.rowEvery).toBeGreaterThan(1);
    expect(layout.columnEvery).toBeGreaterThan(1);
  });

  it("finds the cell under a point", () => {
    const layout = matrixLayout(needs);
    const { cellWidth: w, cellHeight: h } = layout;
    expect(cellAt(layout, 7, 7, 2.5 * w, 3.5 * h)).toEqual({ row: 3, column: 2 });
    expect(cellAt(layout, 7, 7, -1, 5)).toBeNull();
    expect(cellAt(layout, 7, 7, 7 * w, 5)).toBeNull();
  });
});

describe("arrow keys", () => {
  it("enter at the first cell, move, and stop at the edges", () => {
    expect(moved(null, "ArrowDown", 3, 4)).toEqual({ row: 0, column: 0 });
    expect(moved({ row: 1, column: 1 }, "ArrowRight", 3, 4)).toEqual({ row: 1, column: 2 });
    expect(moved({ row: 0, column: 0 }, "ArrowUp", 3, 4)).toEqual({ row: 0, column: 0 });
    expect(moved({ row: 1, column: 1 }, "End", 3, 4)).toEqual({ row: 1, column: 3 });
    expect(moved({ row: 1, column: 1 }, "x", 3, 4)).toBeNull();
    expect(moved(null, "ArrowDown", 0, 4)).toBeNull();
  });
});

describe("lines", () => {
  it("leave out what is nearly nothing, and the weakest of very many", () => {
    const weights = { rows: 2, columns: 2, values: Float32Array.of(0.9, 0.01, 0.3, 0.7) };
    expect(linesOf(weights).map((l) => [l.row, l.column])).toEqual([
      [0, 0],
      [1, 0],
      [1, 1],
    ]);
    expect(linesOf(weights, 0.03, 2).map((l) => [l.row, l.column])).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });

  it("put the shorter sentence beside the middle of the longer", () => {
    const layout = lineLayout(2, 4, 60, 600);
    expect(layout.sourceY(0) + layout.sourceY(1)).toBe(layout.targetY(0) + layout.targetY(3));
    expect(layout.right).toBeGreaterThan(layout.left);
    expect(lineLayout(5, 5, 500, 340).right).toBeGreaterThan(lineLayout(5, 5, 500, 340).left);
  });
});
