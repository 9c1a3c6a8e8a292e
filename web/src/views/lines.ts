// The weights as lines between the words of two sentences; the heads of a layer each in its colour.
import { drawing, element, textWidth } from "../dom";
import { headColour, type Theme } from "../logic/colour";
import { headOffset, lineLayout, linesOf, moved } from "../logic/layout";
import { type Picture, shown } from "../logic/picture";
import { curve, lineOpacity, linesSvg, lineWidth, widest } from "../logic/svg";
import type { Label } from "../logic/weights";
import type { PictureView, Point } from "./view";

interface DrawnLine {
  row: number;
  column: number;
  path: SVGPathElement;
}

export class LinesView implements PictureView {
  readonly root = element("div", { class: "scroll" });
  readonly #legend = element("p", { class: "legend" });
  readonly #svg: SVGSVGElement;
  readonly #point: Point;
  #pictures: Picture[] = [];
  #lines: DrawnLine[] = [];
  #rowWords: SVGTextElement[] = [];
  #columnWords: SVGTextElement[] = [];
  #lit: SVGElement[] = [];
  #row: number | null = null;
  #column: number | null = null;
  heads: Picture[] = []; // drawn instead of the picture where there are several

  constructor(point: Point) {
    this.#point = point;
    this.#svg = drawing("svg", {
      class: "lines",
      role: "application",
      tabindex: 0,
      "aria-label": "Lines between the words. Arrow keys move from word to word.",
    });
    this.#svg.addEventListener("keydown", (event) => this.#move(event));
    this.#svg.addEventListener("blur", () => point(null, null));
    this.#svg.addEventListener("pointerleave", () => point(null, null));
    this.root.append(this.#legend, this.#svg);
  }

  show(picture: Picture, theme: Theme, available: number) {
    const { rows, columns } = picture;
    const pictures = this.heads.length > 1 ? this.heads : [picture];
    this.#pictures = pictures;
    const label = Math.max(widest(rows, textWidth), widest(columns, textWidth)) + 8;
    const layout = lineLayout(columns.length, rows.length, label, available);
    this.#svg.setAttribute("viewBox", `0 0 ${layout.width} ${layout.height}`);
    this.#svg.setAttribute("width", String(layout.width));
    this.#svg.setAttribute("height", String(layout.height));
    this.#lines = pictures.flatMap(({ weights }, head) =>
      linesOf(weights, pictures.length > 1 ? 0.1 : 0.03).map(({ row, column, weight }) => ({
        row,
        column,
        path: drawing("path", {
          d: curve(
            layout.left,
            layout.sourceY(column) + headOffset(head, pictures.length),
            layout.right,
            layout.targetY(row) + headOffset(head, pictures.length),
          ),
          stroke: headColour(head, theme),
          "stroke-width": lineWidth(weight),
          "stroke-opacity": lineOpacity(weight),
        }),
      })),
    );
    const word = (of: Label, x: number, y: number, anchor: string, point: () => void) => {
      const text = drawing("text", { x, y, "text-anchor": anchor, "dominant-baseline": "central" }, shown(of));
      text.addEventListener("pointerenter", point);
      text.addEventListener("pointerdown", point);
      return text;
    };
    this.#columnWords = columns.map((c, j) =>
      word(c, layout.left - 8, layout.sourceY(j), "end", () => this.#point(null, j)),
    );
    this.#rowWords = rows.map((r, i) =>
      word(r, layout.right + 8, layout.targetY(i), "start", () => this.#point(i, null)),
    );
    const lines = drawing("g", { class: "strokes" }, ...this.#lines.map((line) => line.path));
    this.#svg.replaceChildren(lines, ...this.#columnWords, ...this.#rowWords);
    this.#showLegend(pictures.length, theme);
    this.#lit = [];
    this.highlight(null, null);
  }

  svg(title: string, theme: Theme): string {
    return linesSvg(this.#pictures, title, theme, textWidth);
  }

  #showLegend(heads: number, theme: Theme) {
    this.#legend.hidden = heads < 2;
    const swatches = Array.from({ length: heads > 1 ? heads : 0 }, (_, h) => {
      const dot = element("span", { class: "dot" });
      dot.style.background = headColour(h, theme);
      return element("span", {}, dot, `head ${h + 1}`);
    });
    this.#legend.replaceChildren(...swatches);
  }

  // Up and down go along a sentence, left and right from one to the other.
  #move(event: KeyboardEvent) {
    if (event.key === "Escape") this.#point(null, null);
    const [rows, columns] = [this.#rowWords.length, this.#columnWords.length];
    const onRows = this.#row !== null || this.#column === null;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      event.preventDefault();
      if (event.key === "ArrowRight") this.#point(Math.min(rows - 1, this.#column ?? this.#row ?? 0), null);
      else this.#point(null, Math.min(columns - 1, this.#row ?? this.#column ?? 0));
      return;
    }
    const count = onRows ? rows : columns;
    const place = onRows ? this.#row : this.#column;
    const to = moved(place === null ? null : { row: place, column: 0 }, event.key, count, 1);
    if (!to) return;
    event.preventDefault();
    if (onRows) this.#point(to.row, null);
    else this.#point(null, to.row);
  }

  highlight(row: number | null, column: number | null) {
    this.#row = row;
    this.#column = column;
    for (const lit of this.#lit) lit.classList.remove("lit");
    this.#lit = [];
    this.#svg.classList.toggle("pointed", row !== null || column !== null);
    if (row === null && column === null) return;
    for (const line of this.#lines) {
      if ((row === null || line.row === row) && (column === null || line.column === column)) this.#lit.push(line.path);
    }
    const words = [row === null ? null : this.#rowWords[row], column === null ? null : this.#columnWords[column]];
    for (const word of words) if (word) this.#lit.push(word);
    for (const lit of this.#lit) lit.classList.add("lit");
  }
}
