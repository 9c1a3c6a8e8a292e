// All heads of a model at a glance: one row for each layer, one column for each head. A click opens one of them large.
import { element, Select, textWidth } from "../dom";
import { pixels, type Theme } from "../logic/colour";
import { type Choice, groups, type HeadRow, headRows } from "../logic/picture";
import { headsSvg } from "../logic/svg";
import type { Matrix, Trace } from "../logic/trace";
import type { StageView } from "./view";

export class HeadsView implements StageView {
  readonly root: HTMLElement;
  readonly #grid = element("div", { class: "scroll" });
  readonly #kind: Select;
  readonly #choose: (choice: Choice) => void;
  #title = "";
  #rows: HeadRow[] = [];
  #trace: Trace | null = null;
  #theme: Theme = "light";

  constructor(choose: (choice: Choice) => void) {
    this.#choose = choose;
    this.#kind = new Select("Show", (title) => {
      this.#title = title;
      this.#draw();
    });
    this.root = element("div", { class: "heads" }, this.#kind.field, this.#grid);
  }

  show(trace: Trace, theme: Theme) {
    if (trace === this.#trace && theme === this.#theme) return;
    this.#trace = trace;
    this.#theme = theme;
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

  svg(title: string, theme: Theme): string {
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
