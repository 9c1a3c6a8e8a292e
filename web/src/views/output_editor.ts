// Edit the output, and see where the model would look while it writes that.
import type { App } from "../app";
import { element } from "../dom";
import { isChosen, outputOf, type Trace, textOf } from "../logic/trace";

export class OutputEditor {
  readonly root = element("div", { class: "editor" });
  readonly #edit: HTMLButtonElement;
  readonly #own: HTMLButtonElement;
  readonly #form: HTMLFormElement;
  readonly #input = element("input", {
    type: "text",
    dir: "auto",
    "aria-label": "The output that the model is made to write",
    autocomplete: "off",
  });
  #text = "";

  constructor(app: App) {
    this.#edit = element("button", { type: "button", class: "link", on: { click: () => this.#open(true) } }, "Edit");
    this.#own = element(
      "button",
      { type: "button", class: "link", on: { click: () => app.force(null) } },
      "Back to the model's own output",
    );
    this.#form = element(
      "form",
      {
        hidden: true,
        on: {
          submit: (event) => {
            event.preventDefault();
            this.#open(false);
            app.force(this.#input.value);
          },
          keydown: (event) => {
            if (event.key === "Escape") this.#open(false);
          },
        },
      },
      this.#input,
      element("button", { type: "submit" }, "Show"),
      element("button", { type: "button", class: "quiet", on: { click: () => this.#open(false) } }, "Cancel"),
    );
    this.root.append(this.#edit, this.#own, this.#form);
  }

  show(trace: Trace, possible: boolean, forced: boolean) {
    this.#text = textOf(outputOf(trace));
    this.root.hidden = !possible || isChosen(outputOf(trace));
    this.#own.hidden = !forced || !this.#form.hidden;
  }

  #open(open: boolean) {
    this.#form.hidden = !open;
    this.#edit.hidden = open;
    this.root.classList.toggle("open", open);
    if (open) {
      this.#own.hidden = true;
      this.#input.value = this.#text;
      this.#input.select();
      this.#input.focus();
    } else {
      this.#edit.focus();
    }
  }
}
