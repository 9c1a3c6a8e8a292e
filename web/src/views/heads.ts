// All heads of a model at a glance: a row a layer, a column a head, each a small matrix that opens when it is chosen.
import { element, Select } from "../dom";
import { pixels, type Theme } from "../logic/colour";
import { type Choice, groups, shapeOf, titleOf } from "../logic/picture";
import type { Trace } from "../logic/trace";
import { thumbnail } from "../logic/weights";

const size = 64; // pixels of a thumbnail at most

export class HeadsView {
  readonly root: HTMLElement;
  readonly #grid = element("div", { class: "scroll" });
  readonly #kind: Select;
  readonly #choose: (choice: Choice) => void;
  #title = "";
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
    const kinds = groups(trace.attentions.map(shapeOf));
    const group = kinds.find((k) => k.title === this.#title) ?? kinds[0];
    this.#kind.show(
      kinds.map((k) => ({ value: k.title, title: k.title })),
      group?.title ?? "",
    );
    if (!group) return;
    const heads = Math.max(...group.members.map((m) => m.heads));
    const top = element(
      "tr",
      {},
      element("td"),
      ...Array.from({ length: heads }, (_, h) => element("th", { scope: "col" }, `Head ${h + 1}`)),
    );
    const rows = group.members.map((member) => {
      const attention = trace.attentions.find((a) => a.name === member.name)!;
      const title = titleOf(member, group);
      const cells = attention.heads.map((weights, h) =>
        element(
          "td",
          {},
          element(
            "button",
            {
              type: "button",
              class: "thumbnail",
              "aria-label": `${title}, head ${h + 1}`,
              on: { click: () => this.#choose({ attention: member.name, head: h + 1 }) },
            },
            this.#small(thumbnail(weights, size)),
          ),
        ),
      );
      return element("tr", {}, element("th", { scope: "row" }, title), ...cells);
    });
    this.#grid.replaceChildren(element("table", { class: "head-grid" }, top, ...rows));
  }

  #small(weights: { rows: number; columns: number; values: Float32Array }): HTMLCanvasElement {
    const canvas = element("canvas", { width: Math.max(1, weights.columns), height: Math.max(1, weights.rows) });
    if (weights.values.length) {
      const image = new ImageData(pixels(weights.values, this.#theme), weights.columns, weights.rows);
      canvas.getContext("2d")!.putImageData(image, 0, 0);
    }
    return canvas;
  }
}
