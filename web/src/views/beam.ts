// What a beam search weighed up: one column for each step, a line from each hypothesis to those that continue it.
import { drawing, element, textWidth } from "../dom";
import { tokenOf, twigs } from "../logic/beam";
import type { Theme } from "../logic/colour";
import { beamLayout } from "../logic/layout";
import { percent } from "../logic/reading";
import { beamSvg, curve } from "../logic/svg";
import { outputOf, type Trace, textOf } from "../logic/trace";
import type { StageView } from "./view";

export class BeamView implements StageView {
  readonly root = element("div", { class: "beam" });
  #trace: Trace | null = null;

  show(trace: Trace) {
    if (trace === this.#trace) return;
    this.#trace = trace;
    const steps = twigs(trace.beam);
    const { width, height, links } = beamLayout(steps);
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
              element("span", { class: "token", dir: "auto" }, tokenOf(twig)),
              element("span", { class: "share" }, percent(twig.probability)),
              twig.chosen && element("span", { class: "unseen" }, " chosen"),
            ),
          );
        }),
      ),
    );
    const paths = links.map(({ x1, y1, x2, y2, chosen }) =>
      drawing("path", { class: chosen ? "chosen" : "", d: curve(x1, y1, x2, y2) }),
    );
    const table = element(
      "table",
      { class: "tree" },
      element("caption", { class: "unseen" }, "Hypotheses at each step of the beam search, best first"),
      element("thead", {}, head),
      element("tbody", {}, ...body),
    );
    table.style.width = `${width}px`;
    const lines = drawing("svg", { class: "links", width, height, "aria-hidden": "true" }, ...paths);
    this.root.replaceChildren(
      element(
        "p",
        { class: "note" },
        "At each step the search keeps the best few beginnings and continues each of them. Its result: ",
        element("strong", { dir: "auto" }, textOf(outputOf(trace))),
      ),
      element(
        "div",
        { class: "scroll", tabindex: 0, role: "group", "aria-label": "Steps of the beam search" },
        element("div", { class: "tree-frame" }, lines, table),
      ),
    );
  }

  svg(title: string, theme: Theme): string {
    return beamSvg(this.#trace?.beam ?? [], title, theme, textWidth);
  }
}
