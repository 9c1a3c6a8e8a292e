// The weights as a matrix: one row a word that looks, one column a word that is looked at.
import { element, textWidth } from "../dom";
import { colourOf, css, pixels, type Theme } from "../logic/colour";
import { cellAt, type MatrixLayout, matrixLayout, moved } from "../logic/layout";
import { type Picture, shown } from "../logic/picture";
import { matrixSvg, widest } from "../logic/svg";
import { at, type Label } from "../logic/weights";
import type { PictureView, Point } from "./view";

export class MatrixView implements PictureView {
  readonly root = element("div", { class: "picture" });
  readonly #frame = element("div", { class: "scroll" });
  readonly #key = new ColourKey();
  readonly #area: HTMLElement;
  readonly #canvas = element("canvas", { "aria-hidden": "true" });
  readonly #rowBand = element("div", { class: "band", "aria-hidden": "true" });
  readonly #columnBand = element("div", { class: "band", "aria-hidden": "true" });
  readonly #value = element("div", { class: "value", "aria-hidden": "true" });
  readonly #point: Point;
  #rowLabels: HTMLElement[] = [];
  #columnLabels: HTMLElement[] = [];
  #picture: Picture | null = null;
  #layout: MatrixLayout | null = null;
  #row: number | null = null;
  #column: number | null = null;

  constructor(point: Point) {
    this.#point = point;
    this.#area = element("div", {
      class: "matrix",
      role: "application",
      tabindex: 0,
      "aria-label": "Attention matrix. Arrow keys move from cell to cell.",
      on: {
        pointermove: (event) => this.#pointAt(event),
        pointerdown: (event) => this.#pointAt(event),
        pointerleave: () => point(null, null),
        keydown: (event) => this.#move(event),
        blur: () => point(null, null),
      },
    });
    this.#frame.append(this.#area);
    this.root.append(this.#frame, this.#key.root);
  }

  show(picture: Picture, theme: Theme, available: number) {
    const { rows, columns } = picture;
    this.#picture = picture;
    const layout = matrixLayout({
      rows: rows.length,
      columns: columns.length,
      rowLabel: widest(rows, textWidth),
      columnLabel: widest(columns, textWidth),
      available,
    });
    this.#layout = layout;
    this.#area.style.width = `${layout.width}px`;
    this.#area.style.height = `${layout.height}px`;
    this.#draw(picture, layout, theme);
    this.#key.show(picture, theme);
    this.#rowLabels = rows.map((label, i) => {
      const result = this.#label("row-label", label, i % layout.rowEvery === 0);
      result.style.cssText = `top:${layout.top + (i + 0.5) * layout.cellHeight}px;width:${layout.left - 8}px`;
      return result;
    });
    this.#columnLabels = columns.map((label, j) => {
      const result = this.#label("column-label", label, j % layout.columnEvery === 0);
      result.classList.toggle("slanted", layout.slanted);
      result.style.left = `${layout.left + (j + 0.5) * layout.cellWidth}px`;
      result.style.top = `${layout.top - 6}px`;
      return result;
    });
    this.#area.replaceChildren(
      this.#canvas,
      this.#rowBand,
      this.#columnBand,
      ...this.#columnLabels,
      ...this.#rowLabels,
      this.#value,
    );
    this.#row = null;
    this.#column = null;
    this.highlight(null, null);
  }

  svg(title: string, theme: Theme): string {
    return matrixSvg(this.#picture!, title, theme, textWidth);
  }

  #label(kind: string, label: Label, written: boolean): HTMLElement {
    const name = `label ${kind}${written ? "" : " unwritten"}${label.isEnd ? " end" : ""}`;
    return element("div", { class: name, dir: "auto", "aria-hidden": "true" }, shown(label));
  }

  // One pixel a weight, then enlarged: the work does not grow with the size on the screen.
  #draw(picture: Picture, layout: MatrixLayout, theme: Theme) {
    const { rows, columns, values } = picture.weights;
    const scale = window.devicePixelRatio || 1;
    const width = columns * layout.cellWidth;
    const height = rows * layout.cellHeight;
    const canvas = this.#canvas;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.cssText = `left:${layout.left}px;top:${layout.top}px;width:${width}px;height:${height}px`;
    if (rows === 0 || columns === 0) return;
    const small = new OffscreenCanvas(columns, rows);
    small.getContext("2d")!.putImageData(new ImageData(pixels(values, theme), columns, rows), 0, 0);
    const context = canvas.getContext("2d")!;
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, canvas.width, canvas.height);
    if (layout.cellHeight < 10) return;
    context.fillStyle = getComputedStyle(this.#frame).getPropertyValue("background-color");
    context.scale(scale, scale);
    for (let i = 1; i <= rows; ++i) context.fillRect(0, i * layout.cellHeight - 1, width, 1);
    for (let j = 1; j <= columns; ++j) context.fillRect(j * layout.cellWidth - 1, 0, 1, height);
  }

  #pointAt(event: PointerEvent) {
    const layout = this.#layout;
    if (!layout || !this.#picture) return;
    const box = this.#area.getBoundingClientRect();
    const x = event.clientX - box.left - layout.left;
    const y = event.clientY - box.top - layout.top;
    const { rows, columns } = this.#picture;
    const row = Math.floor(y / layout.cellHeight);
    const column = Math.floor(x / layout.cellWidth);
    const cell = cellAt(layout, rows.length, columns.length, x, y);
    if (cell) this.#point(cell.row, cell.column);
    else if (x < 0 && row >= 0 && row < rows.length) this.#point(row, null);
    else if (y < 0 && column >= 0 && column < columns.length) this.#point(null, column);
    else this.#point(null, null);
  }

  #move(event: KeyboardEvent) {
    if (!this.#picture) return;
    const { rows, columns } = this.#picture;
    if (event.key === "Escape") this.#point(null, null);
    const from =
      this.#row === null && this.#column === null ? null : { row: this.#row ?? 0, column: this.#column ?? 0 };
    const to = moved(from, event.key, rows.length, columns.length);
    if (!to) return;
    event.preventDefault();
    this.#point(to.row, to.column);
    this.#columnLabels[to.column]?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.#rowLabels[to.row]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // Moves two bands and marks two labels; the canvas is left alone.
  highlight(row: number | null, column: number | null) {
    const layout = this.#layout;
    if (!layout || !this.#picture) return;
    if (this.#row !== null) this.#rowLabels[this.#row]?.classList.remove("lit");
    if (this.#column !== null) this.#columnLabels[this.#column]?.classList.remove("lit");
    this.#row = row;
    this.#column = column;
    const { rows, columns, weights } = this.#picture;
    place(this.#rowBand, row !== null, {
      left: layout.left,
      top: layout.top + (row ?? 0) * layout.cellHeight,
      width: columns.length * layout.cellWidth,
      height: layout.cellHeight,
    });
    place(this.#columnBand, column !== null, {
      left: layout.left + (column ?? 0) * layout.cellWidth,
      top: layout.top,
      width: layout.cellWidth,
      height: rows.length * layout.cellHeight,
    });
    if (row !== null) this.#rowLabels[row]?.classList.add("lit");
    if (column !== null) this.#columnLabels[column]?.classList.add("lit");
    const both = row !== null && column !== null;
    this.#value.hidden = !both;
    if (!both) return;
    this.#value.textContent = at(weights, row, column).toFixed(2);
    const x = layout.left + (column + 0.5) * layout.cellWidth;
    const y = layout.top + row * layout.cellHeight;
    this.#value.style.transform = `translate(${x}px, ${y}px) translate(-50%, -120%)`;
  }
}

// What a row is and what a colour means.
class ColourKey {
  readonly root = element("p", { class: "key" });

  show({ rowSide, columnSide }: Picture, theme: Theme) {
    const ramp = element("span", { class: "ramp", "aria-hidden": "true" });
    const stops = Array.from({ length: 9 }, (_, i) => css(colourOf(i / 8, theme)));
    ramp.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    const names = { source: "input", target: "output" };
    const what = `Each row is a word of the ${names[rowSide]}, each column one of the ${names[columnSide]}.`;
    this.root.replaceChildren(element("span", {}, what), element("span", {}, "Looked at: 0 %"), ramp, "100 %");
  }
}

function place(band: HTMLElement, visible: boolean, box: { left: number; top: number; width: number; height: number }) {
  band.hidden = !visible;
  if (!visible) return;
  band.style.transform = `translate(${box.left}px, ${box.top}px)`;
  band.style.width = `${box.width}px`;
  band.style.height = `${box.height}px`;
}
