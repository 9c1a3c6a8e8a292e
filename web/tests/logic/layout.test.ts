import { describe, expect, it } from "vitest";
import { cellAt, lineLayout, linesOf, matrixLayout, moved, timeTicks } from "../../src/logic/layout";

const needs = { rows: 7, columns: 7, rowLabel: 80, columnLabel: 70, available: 700 };

describe("a matrix", () => {
  it("fits the width of a desktop and of a phone", () => {
    expect(matrixLayout(needs).width).toBeLessThanOrEqual(700);
    expect(matrixLayout({ ...needs, available: 320 }).width).toBeLessThanOrEqual(320);
  });

  it("writes labels straight where they fit, slanted where they do not, then upright", () => {
    expect([4, 12, 40].map((columns) => matrixLayout({ ...needs, columns }).turn)).toEqual([0, 45, 90]);
  });

  it.each([60, 200])("of %i words has room for every label, each in a line of its own", (count) => {
    const layout = matrixLayout({ ...needs, rows: count, columns: count, available: 1100 });
    expect(layout.cellWidth).toBeGreaterThanOrEqual(layout.columnFont);
    expect(layout.cellHeight).toBeGreaterThanOrEqual(layout.rowFont);
    expect(layout.columnFont).toBeGreaterThanOrEqual(10);
    if (count === 60) expect(layout.width).toBeLessThanOrEqual(1100); // it need not scroll
  });

  it("of a sound takes the whole width, with round seconds", () => {
    const layout = matrixLayout({ ...needs, columns: 107, columnLabel: 0, columnsInTime: true });
    expect(layout.width).toBeLessThanOrEqual(700);
    expect(layout.width).toBeGreaterThan(690);
    expect(timeTicks(3.2, 8).map((t) => t.text)).toEqual([
      "0.0 s",
      "0.5 s",
      "1.0 s",
      "1.5 s",
      "2.0 s",
      "2.5 s",
      "3.0 s",
    ]);
    expect(timeTicks(42, 5).map((t) => t.text)).toEqual(["0 s", "10 s", "20 s", "30 s", "40 s"]);
    expect(timeTicks(0.05, 6).at(-1)).toEqual({ seconds: 0.05, text: "0.05 s" });
    expect(timeTicks(0, 6)).toEqual([]);
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
