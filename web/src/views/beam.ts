// What a beam search weighed up: a column a step, a line from each hypothesis to those that continue it.
import { drawing, element } from "../dom";
import { twigs } from "../logic/beam";
import { percent } from "../logic/reading";
import type { Trace } from "../logic/trace";

const cellWidth = 124;
const cellHeight = 52;
const top = 30; // of the table's head
const inset = 8;

export class BeamView {
  readonly root = element("div", { class: "beam" });
  #trace: Trace | null = null;

  show(trace: Trace) {
    if (trace === this.#trace) return;
    this.#trace = trace;
    const steps = twigs(trace.beam);
    const rows = Math.max(0, ...steps.map((s) => s.length));
    const head = element("tr", {}, ...steps.map((_, i) => element("th", { scope: "col" }, `Step ${i + 1}`)));
    const body = Array.from({ length: rows }, (_, place) =>
      element(
        "tr",
        {},
        ...steps.map((step) => {
          const twig = step[place];
          if (!twig) return element("td");
          const name = `twig${twig.chosen ? " chosen" : ""}${twig.ended ? " ended" : ""}`;
          return element(
            "td",
            {},
            element(
              "div",
              { class: name, title: `${twig.text.trim()}\nscore ${twig.score.toFixed(3)}` },
              element("span", { class: "token", dir: "auto" }, twig.ended ? "⟨end⟩" : twig.token),
              element("span", { class: "share" }, percent(twig.probability)),
              twig.chosen && element("span", { class: "unseen" }, " chosen"),
            ),
          );
        }),
      ),
    );
    const links = steps.flatMap((step, s) =>
      s === 0
        ? []
        : step.map((twig) => {
            const from = { x: s * cellWidth - inset, y: top + (twig.from + 0.5) * cellHeight };
            const to = { x: s * cellWidth + inset, y: top + (twig.place + 0.5) * cellHeight };
            return drawing("path", {
              class: twig.chosen ? "chosen" : "",
              d: `M${from.x} ${from.y}C${from.x + 10} ${from.y} ${to.x - 10} ${to.y} ${to.x} ${to.y}`,
            });
          }),
    );
    const width = steps.length * cellWidth;
    const table = element(
      "table",
      { class: "tree" },
      element("caption", { class: "unseen" }, "Hypotheses at each step of the beam search, best first"),
      element("thead", {}, head),
      element("tbody", {}, ...body),
    );
    table.style.width = `${width}px`;
    const height = top + rows * cellHeight;
    const lines = drawing("svg", { class: "links", width, height, "aria-hidden": "true" }, ...links);
    this.root.replaceChildren(
      element(
        "p",
        { class: "note" },
        "The search keeps the best few beginnings at each step and continues each of them. Its result: ",
        element("strong", { dir: "auto" }, trace.target.text),
      ),
      element(
        "div",
        { class: "scroll", tabindex: 0, role: "group", "aria-label": "Steps of the beam search" },
        element("div", { class: "tree-frame" }, lines, table),
      ),
    );
  }
}
