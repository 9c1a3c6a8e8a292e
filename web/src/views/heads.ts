// All heads of a model at a glance: one row for each layer, one column for each head; or, where a label looks at a text,
// that text once for each head. A click opens one of them large.
import { element, Select, textWidth } from "../dom";
import { pixels, type Theme } from "../logic/colour";
import { depths, excerpt, sentenceLooks } from "../logic/document";
import { type Choice, groups, type HeadRow, headRows, shown, type TextHead, textHeads } from "../logic/picture";
import { excerptWords, headsSvg, textHeadsSvg } from "../logic/svg";
import { type Matrix, type Trace, textOf } from "../logic/trace";
import { type Level, row as rowOf } from "../logic/weights";
import { leastDepth, tint, written } from "./tinted";
import type { StageView } from "./view";

export class HeadsView implements StageView {
  readonly root: HTMLElement;
  readonly #grid = element("div", { class: "scroll" });
  readonly #kind: Select;
  readonly #choose: (choice: Choice) => void;
  #title = "";
  #rows: HeadRow[] = [];
  #texts: TextHead[] = [];
  #trace: Trace | null = null;
  #theme: Theme = "light";
  #level: Level = "legible";
  #keepEnd = false;

  constructor(choose: (choice: Choice) => void) {
    this.#choose = choose;
    this.#kind = new Select("Show", (title) => {
      this.#title = title;
      this.#draw();
    });
    this.root = element("div", { class: "heads" }, this.#kind.field, this.#grid);
  }

  // Words or tokens, with or without an end, make a difference to texts only.
  show(trace: Trace, theme: Theme, level: Level, keepEnd: boolean) {
    const same = theme === this.#theme && level === this.#level && keepEnd === this.#keepEnd;
    if (trace === this.#trace && same) return;
    this.#trace = trace;
    this.#theme = theme;
    this.#level = level;
    this.#keepEnd = keepEnd;
    this.#draw();
  }

  #draw() {
    const trace = this.#trace;
    if (!trace) return;
    const kinds = groups(trace);
    const group = kinds.find((k) => k.title === this.#title) ?? kinds[0];
    this.#kind.show(
      kinds.map((k) => ({ value: k.title, title: k.title })),
      group?.title ?? "",
    );
    if (!group) return;
    this.#title = group.title;
    this.#texts = textHeads(trace, group, this.#level, this.#keepEnd);
    if (this.#texts.length) {
      this.#grid.replaceChildren(
        element("div", { class: "text-heads" }, ...this.#texts.map((head) => this.#text(head))),
      );
      return;
    }
    this.#rows = headRows(trace, group);
    const heads = Math.max(...this.#rows.map((r) => r.heads.length));
    const top = element(
      "tr",
      {},
      element("td"),
      ...Array.from({ length: heads }, (_, h) => element("th", { scope: "col" }, `Head ${h + 1}`)),
    );
    const rows = this.#rows.map((row) => {
      const cells = row.heads.map((weights, h) =>
        element(
          "td",
          {},
          element(
            "button",
            {
              type: "button",
              class: "thumbnail",
              "aria-label": `${row.title}, head ${h + 1}`,
              title: "Open this head",
              on: { click: () => this.#choose({ attention: row.name, head: h + 1 }) },
            },
            this.#small(weights),
          ),
        ),
      );
      return element("tr", {}, element("th", { scope: "row" }, row.title), ...cells);
    });
    this.#grid.replaceChildren(element("table", { class: "head-grid" }, top, ...rows));
  }

  // As many words as have room, those that were looked at most.
  #text({ title, choice, picture }: TextHead): HTMLButtonElement {
    const deep = depths(picture, sentenceLooks(picture));
    const most = deep.reduce((a, b) => Math.max(a, b), 0);
    const { begin, end } = excerpt(rowOf(picture.weights, 0), excerptWords);
    const labels = picture.columns.slice(begin, end);
    const words = labels.map((label, i) => {
      const depth = deep[begin + i]!;
      if (depth <= leastDepth * most) return shown(label);
      const word = element("span", { class: "word" }, shown(label));
      tint(word, depth / most, this.#theme);
      return word;
    });
    const [first, last] = [labels[0]?.begin ?? 0, labels.at(-1)?.end ?? 0];
    return element(
      "button",
      {
        type: "button",
        class: "text-head",
        "aria-label": title,
        title: "Open this head",
        on: { click: () => this.#choose(choice) },
      },
      element("strong", {}, title),
      element(
        "span",
        { dir: "auto" },
        begin > 0 && "… ",
        ...written([...textOf(picture.columnAxis)], labels, words, first, last),
        end < picture.columns.length && " …",
      ),
    );
  }

  svg(title: string, theme: Theme): string {
    if (this.#texts.length) return textHeadsSvg(this.#texts, this.#title, title, theme, textWidth);
    return headsSvg(this.#rows, this.#title, title, theme, textWidth);
  }

  #small(weights: Matrix): HTMLCanvasElement {
    const canvas = element("canvas", { width: Math.max(1, weights.columns), height: Math.max(1, weights.rows) });
    if (weights.values.length) {
      const image = new ImageData(pixels(weights.values, this.#theme), weights.columns, weights.rows);
      canvas.getContext("2d")!.putImageData(image, 0, 0);
    }
    return canvas;
  }
}
