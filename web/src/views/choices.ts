// The labels that a model chose from, with how probable it found each.
import { element } from "../dom";
import { percent } from "../logic/reading";
import { isChosen, outputOf, type Trace, textOf } from "../logic/trace";

export class ChoicesView {
  readonly root = element("div", { class: "labels" });
  readonly #ask: (label: string | null) => void;
  #trace: Trace | null = null;
  #shown = "";

  constructor(ask: (label: string | null) => void) {
    this.#ask = ask;
  }

  // Where the server can be asked, each label can be given to the model, to see where it looks for that one.
  show(trace: Trace, askable: boolean, forced: boolean) {
    const output = outputOf(trace);
    this.root.hidden = !isChosen(output);
    const shown = JSON.stringify([askable, forced]);
    if (this.root.hidden || (trace === this.#trace && shown === this.#shown)) return;
    this.#trace = trace;
    this.#shown = shown;
    const label = textOf(output);
    const chosen = trace.choices.find((choice) => choice.label === label);
    const rows = trace.choices.map((choice) => {
      const bar = element("span", { class: "label-bar" });
      bar.style.width = `${Math.max(0, Math.min(1, choice.probability)) * 100}%`;
      const own = choice.label === label;
      const name = element("span", { class: "label-name", dir: "auto" }, choice.label);
      const click = () => this.#ask(choice.label);
      return element(
        "li",
        { class: own ? "chosen" : "" },
        askable && !own
          ? element("button", { type: "button", class: "link", title: "Where would it look?", on: { click } }, name)
          : name,
        element("span", { class: "label-shaft", "aria-hidden": "true" }, bar),
        element("span", { class: "number" }, percent(choice.probability)),
      );
    });
    const back = element(
      "button",
      { type: "button", class: "link", hidden: !forced || !askable, on: { click: () => this.#ask(null) } },
      "Back to the model's own choice",
    );
    this.root.replaceChildren(
      element(
        "p",
        { class: "label-headline" },
        element("strong", { dir: "auto" }, label),
        chosen ? ` ${percent(chosen.probability)}` : "",
        forced ? element("span", { class: "note" }, " (given, not the model's own choice)") : "",
        " ",
        back,
      ),
      // A long list scrolls, also by keys.
      element("ul", { "aria-label": "Probability of each label", tabindex: rows.length > 8 && 0 }, ...rows),
    );
  }
}
