// Beside the picture: how spread each look was, how far to trust it, and the picture in words.
import { element } from "../dom";
import { type Picture, shown, spoken } from "../logic/picture";
import { readRows } from "../logic/reading";
import type { Trust } from "../logic/trace";
import { trustLines } from "../logic/trust_words";
import { entropy, row } from "../logic/weights";

export class EntropyView {
  readonly root: HTMLElement;
  readonly #strip = element("div", { class: "strip", role: "img" });
  readonly #point: (row: number | null) => void;
  #bars: HTMLElement[] = [];
  #lit: HTMLElement | null = null;

  constructor(point: (row: number | null) => void) {
    this.#point = point;
    this.#strip.addEventListener("pointerleave", () => point(null));
    this.root = element(
      "section",
      { class: "measure" },
      element("h3", {}, "How widely did each word look?"),
      this.#strip,
      element(
        "p",
        { class: "note" },
        "A low bar: the word looked at one place. A high bar: it looked at many (entropy, in nats).",
      ),
    );
  }

  show(picture: Picture) {
    const most = Math.max(Math.log(Math.max(2, picture.columns.length)), 1e-6);
    const values = picture.rows.map((_, i) => entropy(row(picture.weights, i)));
    this.#bars = picture.rows.map((label, i) => {
      const bar = element("span", { class: "bar" });
      bar.style.height = `${Math.max(2, Math.min(1, values[i]! / most) * 100)}%`;
      const column = element(
        "div",
        { class: "step", title: `${spoken(label)}: ${values[i]!.toFixed(2)} nats` },
        element("span", { class: "shaft" }, bar),
        picture.rows.length <= 16 && element("span", { class: "name", dir: "auto" }, shown(label)),
      );
      column.addEventListener("pointerenter", () => this.#point(i));
      return column;
    });
    this.#strip.replaceChildren(...this.#bars);
    this.root.hidden = picture.rows.length < 2; // one look alone has nothing to be compared with
    this.#strip.classList.toggle("dense", picture.rows.length > 40);
    const highest = values.indexOf(Math.max(...values));
    const about = picture.rows[highest]
      ? `Entropy of each step. Most spread: ${spoken(picture.rows[highest]!)}, ${values[highest]!.toFixed(2)} nats.`
      : "Entropy of each step.";
    this.#strip.setAttribute("aria-label", about);
    this.#lit = null;
  }

  highlight(place: number | null) {
    this.#lit?.classList.remove("lit");
    this.#lit = place === null ? null : (this.#bars[place] ?? null);
    this.#lit?.classList.add("lit");
  }
}

export class TrustView {
  readonly root: HTMLElement;
  readonly #body = element("div");

  constructor() {
    this.root = element(
      "section",
      { class: "measure" },
      element("h3", {}, "How far can the picture be trusted?"),
      this.#body,
    );
  }

  // `measure` is null where nobody can be asked.
  show(trust: Trust | undefined, words: string, measuring: boolean, measure: (() => void) | null) {
    const lines = trust ? trustLines(trust, words) : [];
    this.root.hidden = lines.length === 0 && !measure;
    if (lines.length) {
      const parts = lines.map(({ name, value, random, meaning }) =>
        element(
          "div",
          { class: "trust" },
          element("dt", {}, name),
          element(
            "dd",
            {},
            element("span", { class: "number" }, value),
            random && ` (${random} in random order) `,
            " ",
            meaning,
          ),
        ),
      );
      this.#body.replaceChildren(element("dl", {}, ...parts));
      return;
    }
    this.#body.replaceChildren(
      element(
        "p",
        { class: "note" },
        `A weight shows where the model looked, not that it mattered. Tests that leave ${words} out can tell.`,
      ),
      element(
        "button",
        { type: "button", class: "quiet", disabled: measuring || !measure, on: { click: () => measure?.() } },
        measuring ? "Testing…" : "Run the tests",
      ),
    );
  }
}

// Built only while it is open: it may be long.
export class ReadingView {
  readonly root: HTMLDetailsElement;
  readonly #body = element("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "The picture as text" });
  #picture: Picture | null = null;

  constructor() {
    this.root = element("details", { class: "reading" }, element("summary", {}, "Read it as text"), this.#body);
    this.root.addEventListener("toggle", () => this.#fill());
  }

  show(picture: Picture) {
    this.#picture = picture;
    this.#fill();
  }

  #fill() {
    if (!this.root.open || !this.#picture) {
      this.#body.replaceChildren();
      return;
    }
    const head = ["Word", "Looks at", "Entropy"].map((title) => element("th", { scope: "col" }, title));
    const rows = readRows(this.#picture).map(({ word, looksAt, entropy: nats }) =>
      element(
        "tr",
        {},
        element("th", { scope: "row", dir: "auto" }, word),
        element("td", { dir: "auto" }, looksAt),
        element("td", {}, nats),
      ),
    );
    this.#body.replaceChildren(
      element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)),
    );
  }
}
