// Input and output as plain sentences. Pointing at a word tints the words it looks at, or that look at it.
import { element } from "../dom";
import { colourOf, css, inkOn, type Theme } from "../logic/colour";
import { moved } from "../logic/layout";
import { type Picture, shown } from "../logic/picture";
import type { Side, Trace } from "../logic/trace";
import { at, type Label, type Level, labels } from "../logic/weights";

type PointWord = (side: Side, label: Label | null) => void;

class Sentence {
  readonly root: HTMLElement;
  readonly #words = element("p", { class: "words", dir: "auto" });
  #buttons: HTMLButtonElement[] = [];
  #tinted: HTMLButtonElement[] = [];
  labels: Label[] = [];

  constructor(title: string, extra: Node | null, point: (label: Label | null) => void) {
    this.#words.setAttribute("aria-label", `${title} words`);
    this.#words.setAttribute("role", "group");
    const indexOf = (event: Event) => this.#buttons.indexOf((event.target as Element).closest("button")!);
    this.#words.addEventListener("pointerover", (event) => point(this.labels[indexOf(event)] ?? null));
    this.#words.addEventListener("pointerleave", () => point(null));
    this.#words.addEventListener("focusin", (event) => point(this.labels[indexOf(event)] ?? null));
    this.#words.addEventListener("focusout", () => point(null));
    this.#words.addEventListener("keydown", (event) => {
      const backwards = getComputedStyle(this.#words).direction === "rtl";
      const turned: Record<string, string> = { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };
      const key = backwards ? (turned[event.key] ?? event.key) : event.key;
      const to = moved({ row: 0, column: indexOf(event) }, key, 1, this.#buttons.length);
      if (!to || to.column === indexOf(event)) return;
      event.preventDefault();
      this.#buttons.forEach((button, i) => {
        button.tabIndex = i === to.column ? 0 : -1;
      });
      this.#buttons[to.column]?.focus();
    });
    this.root = element("div", { class: "sentence" }, element("h3", {}, title), this.#words, extra);
  }

  show(now: Label[], growing: boolean) {
    const same = (i: number) => this.labels[i] && now[i] && shown(this.labels[i]!) === shown(now[i]!);
    // Words that stay are kept, so that only what is new appears anew.
    let kept = 0;
    while (kept < this.#buttons.length && same(kept)) ++kept;
    for (const button of this.#buttons.splice(kept)) button.remove();
    for (let i = kept; i < now.length; ++i) {
      const name = `word${now[i]!.isEnd ? " end" : ""}${growing ? " new" : ""}`;
      const button = element("button", { type: "button", class: name, tabindex: i === 0 ? 0 : -1 }, shown(now[i]!));
      this.#buttons.push(button);
    }
    this.labels = now;
    this.#words.replaceChildren(...this.#buttons.flatMap((b) => [b, " "]));
    this.#words.classList.toggle("growing", growing);
    this.#words.classList.toggle("long", now.length > 40);
  }

  outline(place: number | null) {
    for (const button of this.#words.querySelectorAll(".lit")) button.classList.remove("lit");
    if (place !== null) this.#buttons[place]?.classList.add("lit");
  }

  tint(weights: ArrayLike<number> | null, theme: Theme) {
    for (const button of this.#tinted) button.removeAttribute("style");
    this.#tinted = [];
    if (!weights) return;
    this.#buttons.forEach((button, i) => {
      const weight = weights[i] ?? 0;
      if (weight < 0.02) return;
      const colour = colourOf(weight, theme);
      button.style.background = css(colour);
      button.style.color = inkOn(colour);
      this.#tinted.push(button);
    });
  }
}

export class SentencesView {
  readonly root: HTMLElement;
  readonly #sentences: Record<Side, Sentence>;
  #picture: Picture | null = null;
  #theme: Theme = "light";

  constructor(point: PointWord, besideOutput: Node) {
    this.#sentences = {
      source: new Sentence("Input", null, (label) => point("source", label)),
      target: new Sentence("Output", besideOutput, (label) => point("target", label)),
    };
    this.root = element("div", { class: "sentences" }, this.#sentences.source.root, this.#sentences.target.root);
  }

  show(trace: Trace, picture: Picture | null, level: Level, keepEnd: boolean, growing: boolean, theme: Theme) {
    this.#picture = picture;
    this.#theme = theme;
    this.#sentences.source.show(labels(trace.source, level, keepEnd), false);
    this.#sentences.target.show(labels(trace.target, level, keepEnd), growing);
    this.highlight(null, null);
  }

  highlight(row: number | null, column: number | null) {
    const { source, target } = this.#sentences;
    for (const sentence of [source, target]) {
      sentence.outline(null);
      sentence.tint(null, this.#theme);
    }
    const picture = this.#picture;
    if (!picture) return;
    const lookers = this.#sentences[picture.rowSide];
    const lookedAt = this.#sentences[picture.columnSide];
    if (row !== null) {
      lookedAt.tint(
        Array.from(picture.columns, (_, j) => at(picture.weights, row, j)),
        this.#theme,
      );
    } else if (column !== null) {
      lookers.tint(
        Array.from(picture.rows, (_, i) => at(picture.weights, i, column)),
        this.#theme,
      );
    }
    if (lookers !== lookedAt || row !== null) lookers.outline(row);
    if (column !== null && (lookers !== lookedAt || row === null)) lookedAt.outline(column);
  }
}
