// The weights as a matrix: one row for each word that looks, one column for each word that is looked at.
import { element, textWidth } from "../dom";
import { colourOf, css, pixels, type Theme } from "../logic/colour";
import { cellAt, type MatrixLayout, matrixLayout, moved } from "../logic/layout";
import { deepest, type Picture } from "../logic/picture";
import { axesInWords, percent } from "../logic/reading";
import { matrixNeeds, matrixSvg, writtenLabels } from "../logic/svg";
import { type Axis, isWords, type Said } from "../logic/trace";
import { at, type Label } from "../logic/weights";
import type { Playback } from "../playback";
import { SoundStrip } from "./sound_strip";
import type { PictureView, Point } from "./view";

// The labels of one side of the matrix. They stay in sight while the cells scroll.
class Labels {
  readonly root: HTMLElement;
  readonly #kind: string;
  #written: HTMLElement[] = [];
  #each = true; // there is one for each row or column
  #lit: HTMLElement | null = null;

  constructor(kind: string) {
    this.#kind = kind;
    this.root = element("div", { class: `${kind}-labels` });
  }

  // Elements are used again: a growing matrix has its labels replaced with each token.
  show(axis: Axis, labels: Label[], length: number, style: (label: HTMLElement, at: number) => void) {
    this.#each = isWords(axis) || axis.kind === "image";
    const texts = writtenLabels(axis, labels, length);
    for (const label of this.#written.splice(texts.length)) label.remove();
    texts.forEach(({ text, at: place }, i) => {
      let label = this.#written[i];
      if (!label) {
        label = element("div", { class: `label ${this.#kind}-label`, dir: "auto", "aria-hidden": "true" });
        this.#written.push(label);
        this.root.append(label);
      }
      if (label.textContent !== text) label.textContent = text;
      label.classList.toggle("end", this.#each && labels[i]?.kind === "end");
      style(label, place);
    });
    this.light(null);
  }

  light(place: number | null) {
    this.#lit?.classList.remove("lit");
    this.#lit = place !== null && this.#each ? (this.#written[place] ?? null) : null;
    this.#lit?.classList.add("lit");
  }

  reveal(place: number) {
    if (this.#each) this.#written[place]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

export class MatrixView implements PictureView {
  readonly root = element("div", { class: "matrix-view" });
  readonly #frame = element("div", { class: "scroll matrix-frame" });
  readonly #key = new ColourKey();
  readonly #area: HTMLElement;
  readonly #canvas = element("canvas", { "aria-hidden": "true" });
  readonly #rowBand = element("div", { class: "band", "aria-hidden": "true" });
  readonly #columnBand = element("div", { class: "band", "aria-hidden": "true" });
  readonly #timeline = element("div", { class: "timeline" });
  readonly #strip: SoundStrip;
  sound: { said: Said[]; source: string } = { said: [], source: "" }; // of the next picture, where it is of a sound
  readonly #value = element("div", { class: "value", "aria-hidden": "true" });
  readonly #rows = new Labels("row");
  readonly #columns = new Labels("column");
  readonly #point: Point;
  #picture: Picture | null = null;
  #layout: MatrixLayout | null = null;
  #row: number | null = null;
  #column: number | null = null;

  constructor(point: Point, playback: Playback) {
    this.#point = point;
    this.#strip = new SoundStrip(playback);
    this.#area = element(
      "div",
      {
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
      },
      element("div", { class: "corner" }),
      this.#columns.root,
      this.#rows.root,
      element("div", { class: "cells" }, this.#canvas, this.#rowBand, this.#columnBand, this.#value),
    );
    this.#timeline.append(this.#area, this.#strip.cursor);
    this.#frame.append(this.#timeline);
    this.root.append(this.#frame, this.#key.root);
  }

  show(picture: Picture, theme: Theme, available: number) {
    const { rows, columns, rowAxis, columnAxis } = picture;
    this.#picture = picture;
    const layout = matrixLayout(matrixNeeds(picture, textWidth, available - 4));
    const { cellWidth, cellHeight, turn } = layout;
    this.#layout = layout;
    this.#area.style.gridTemplate = `${layout.top}px ${rows.length * cellHeight}px / ${layout.left}px ${layout.width - layout.left}px`;
    this.#strip.cursor.hidden = true;
    if (columnAxis.kind !== "sound") this.#strip.root.remove();
    else {
      if (this.#timeline.firstChild !== this.#strip.root) this.#timeline.prepend(this.#strip.root);
      this.#strip.show(columnAxis, this.sound.said, this.sound.source, layout.left, columns.length * cellWidth);
    }
    this.#draw(picture, layout, theme);
    this.#key.show(picture, theme);
    this.#rows.show(rowAxis, rows, rows.length * cellHeight, (label, place) => {
      label.style.top = `${place * cellHeight}px`;
      label.style.width = `${layout.left - 8}px`;
      label.style.fontSize = `${layout.rowFont}px`;
    });
    this.#columns.show(columnAxis, columns, columns.length * cellWidth, (label, place) => {
      label.dataset.turn = String(turn);
      const edge = columnAxis.kind === "sound" && place === 0 ? "first" : place === columns.length ? "last" : "";
      label.dataset.edge = edge;
      label.style.left = `${place * cellWidth}px`;
      label.style.fontSize = `${layout.columnFont}px`;
      label.style.maxWidth = turn === 90 ? `${layout.top - 8}px` : "150px";
    });
    this.#row = null;
    this.#column = null;
    this.highlight(null, null);
  }

  svg(title: string, theme: Theme): string {
    return matrixSvg(this.#picture!, title, theme, textWidth);
  }

  // One pixel for each weight, then enlarged: the work does not grow with the size on the screen.
  #draw(picture: Picture, layout: MatrixLayout, theme: Theme) {
    const { rows, columns, values } = picture.weights;
    const scale = window.devicePixelRatio || 1;
    const width = columns * layout.cellWidth;
    const height = rows * layout.cellHeight;
    const canvas = this.#canvas;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    if (rows === 0 || columns === 0) return;
    const small = new OffscreenCanvas(columns, rows);
    small.getContext("2d")!.putImageData(
      new ImageData(
        pixels(
          values.map((w) => w / deepest(picture)),
          theme,
        ),
        columns,
        rows,
      ),
      0,
      0,
    );
    const context = canvas.getContext("2d")!;
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, canvas.width, canvas.height);
    context.fillStyle = getComputedStyle(this.#frame).getPropertyValue("background-color");
    context.scale(scale, scale);
    const least = 14; // smaller cells have no lines between them
    const linedColumns = layout.cellWidth >= least || picture.columnAxis.kind === "sound";
    if (layout.cellHeight < least || !linedColumns) return;
    for (let i = 1; i <= rows; ++i) context.fillRect(0, i * layout.cellHeight - 1, width, 1);
    if (layout.cellWidth >= least)
      for (let j = 1; j <= columns; ++j) context.fillRect(j * layout.cellWidth - 1, 0, 1, height);
  }

  #pointAt(event: PointerEvent) {
    const layout = this.#layout;
    if (!layout || !this.#picture) return;
    const { rows, columns } = this.#picture;
    const over = event.target as Node;
    const box = this.#canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const row = Math.floor(y / layout.cellHeight);
    const column = Math.floor(x / layout.cellWidth);
    const cell = cellAt(layout, rows.length, columns.length, x, y);
    if (this.#rows.root.contains(over)) this.#point(rows[row] ? row : null, null);
    else if (this.#columns.root.contains(over)) this.#point(null, columns[column] ? column : null);
    else if (cell) this.#point(cell.row, cell.column);
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
    this.#columns.reveal(to.column);
    this.#rows.reveal(to.row);
  }

  // Moves two bands and marks two labels; the canvas is left alone.
  highlight(row: number | null, column: number | null) {
    const layout = this.#layout;
    if (!layout || !this.#picture) return;
    this.#row = row;
    this.#column = column;
    this.#rows.light(row);
    this.#columns.light(column);
    const { rows, columns, weights } = this.#picture;
    place(this.#rowBand, row !== null, {
      left: 0,
      top: (row ?? 0) * layout.cellHeight,
      width: columns.length * layout.cellWidth,
      height: layout.cellHeight,
    });
    place(this.#columnBand, column !== null, {
      left: (column ?? 0) * layout.cellWidth,
      top: 0,
      width: layout.cellWidth,
      height: rows.length * layout.cellHeight,
    });
    const both = row !== null && column !== null;
    this.#value.hidden = !both;
    if (!both) return;
    this.#value.textContent = at(weights, row, column).toFixed(2);
    const x = (column + 0.5) * layout.cellWidth;
    const y = row * layout.cellHeight;
    this.#value.style.transform = `translate(${x}px, ${y}px) translate(-50%, -120%)`;
  }
}

// What a row is and what a colour means.
class ColourKey {
  readonly root = element("p", { class: "key" });
  #shown = "";

  show(picture: Picture, theme: Theme) {
    const most = percent(deepest(picture));
    const what = axesInWords(picture);
    if (this.#shown === what + most + theme) return;
    this.#shown = what + most + theme;
    const ramp = element("span", { class: "ramp", "aria-hidden": "true" });
    const stops = Array.from({ length: 9 }, (_, i) => css(colourOf(i / 8, theme)));
    ramp.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    this.root.replaceChildren(element("span", {}, what), element("span", {}, "Weight: 0 %", ramp, most));
  }
}

function place(band: HTMLElement, visible: boolean, box: { left: number; top: number; width: number; height: number }) {
  band.hidden = !visible;
  if (!visible) return;
  band.style.transform = `translate(${box.left}px, ${box.top}px)`;
  band.style.width = `${box.width}px`;
  band.style.height = `${box.height}px`;
}
