// Inputs and output as plain sentences. Pointing at a word tints the words it looks at, or that look at it.
import { element, moveByArrows } from "../dom";
import type { Theme } from "../logic/colour";
import { calledOf, capital, type Picture, shown } from "../logic/picture";
import { type Axis, isChosen, isWords, outputOf, type Trace, type WordsAxis } from "../logic/trace";
import { at, type Label, type Level, labels, row as rowOf } from "../logic/weights";
import { tint } from "./tinted";

type PointWord = (axis: Axis, label: Label | null) => void;

class Sentence {
  readonly root: HTMLElement;
  readonly #title = element("h3");
  readonly #words = element("p", { class: "words", dir: "auto", role: "group" });
  #axis: WordsAxis | null = null;
  #buttons: HTMLButtonElement[] = [];
  #tinted: HTMLButtonElement[] = [];
  #labels: Label[] = [];

  constructor(point: PointWord, extra: Node | null) {
    const pointAt = (event: Event | null) => {
      const place = event ? this.#buttons.indexOf((event.target as Element).closest("button")!) : -1;
      if (this.#axis) point(this.#axis, this.#labels[place] ?? null);
    };
    this.#words.addEventListener("pointerover", pointAt);
    this.#words.addEventListener("pointerleave", () => pointAt(null));
    this.#words.addEventListener("focusin", pointAt);
    this.#words.addEventListener("focusout", () => pointAt(null));
    moveByArrows(this.#words, () => this.#buttons);
    this.root = element("div", { class: "sentence" }, this.#title, this.#words, extra);
  }

  // Words that are there already stay the elements that they are, so that a growing sentence does not flicker.
  show(axis: WordsAxis, title: string, now: Label[], growing: boolean) {
    this.#axis = axis;
    this.#title.textContent = title;
    this.#words.setAttribute("aria-label", `${title} words`);
    for (const button of this.#buttons.splice(now.length)) {
      button.previousSibling?.remove();
      button.remove();
    }
    now.forEach((label, i) => {
      const before = now[i - 1];
      const joined = before && before.end === label.begin && label.kind === "word" ? "" : " ";
      const text = shown(label);
      const known = this.#buttons[i];
      if (!known) {
        const name = growing ? "word new" : "word";
        const button = element("button", { type: "button", class: name, tabindex: i === 0 ? 0 : -1 }, text);
        this.#buttons.push(button);
        this.#words.append(joined, button);
      } else {
        if (known.textContent !== text) known.textContent = text;
        if (known.previousSibling?.nodeValue !== joined) known.previousSibling!.nodeValue = joined;
      }
      this.#buttons[i]!.classList.toggle("end", label.kind === "end");
    });
    this.#labels = now;
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
      tint(button, weight, theme);
      this.#tinted.push(button);
    });
  }
}

export class SentencesView {
  readonly root = element("div", { class: "sentences" });
  readonly #point: PointWord;
  readonly #besideOutput: Node;
  readonly #note = element("p", { class: "note draft", role: "status", hidden: true });
  #sentences = new Map<string, Sentence>();
  #picture: Picture | null = null;
  #theme: Theme = "light";

  constructor(point: PointWord, besideOutput: Node) {
    this.#point = point;
    this.#besideOutput = besideOutput;
  }

  // Axes that the stage itself shows as text can be left out. The note stands under the output.
  show(
    trace: Trace,
    picture: Picture | null,
    options: { level: Level; keepEnd: boolean; growing: boolean; theme: Theme; without: string[]; note: string },
  ) {
    this.#picture = picture;
    this.#theme = options.theme;
    this.#note.hidden = !options.note;
    if (this.#note.textContent !== options.note) this.#note.textContent = options.note;
    const output = outputOf(trace);
    const shows = (axis: Axis): axis is WordsAxis =>
      isWords(axis) && !isChosen(axis) && !options.without.includes(axis.name) && (axis === output || !!axis.text);
    const axes = trace.axes.filter(shows);
    const names = axes.map((axis) => axis.name);
    if (names.join("\n") !== Array.from(this.#sentences.keys()).join("\n")) {
      const make = (name: string) => new Sentence(this.#point, name === output.name ? this.#besideOutput : null);
      this.#sentences = new Map(names.map((name) => [name, make(name)]));
      this.root.replaceChildren(...Array.from(this.#sentences.values(), (s) => s.root), this.#note);
    }
    for (const axis of axes) {
      const title = capital(calledOf(trace, axis.name));
      const words = labels(axis, options.level, options.keepEnd);
      this.#sentences.get(axis.name)!.show(axis, title, words, options.growing && axis === output);
    }
    this.highlight(null, null);
  }

  highlight(row: number | null, column: number | null) {
    for (const sentence of this.#sentences.values()) {
      sentence.outline(null);
      sentence.tint(null, this.#theme);
    }
    const picture = this.#picture;
    if (!picture) return;
    const lookers = this.#sentences.get(picture.rowAxis.name);
    const lookedAt = this.#sentences.get(picture.columnAxis.name);
    if (row !== null) lookedAt?.tint(rowOf(picture.weights, row), this.#theme);
    else if (column !== null) {
      lookers?.tint(
        Array.from(picture.rows, (_, i) => at(picture.weights, i, column)),
        this.#theme,
      );
    }
    if (lookers !== lookedAt || row !== null) lookers?.outline(row);
    if (column !== null && (lookers !== lookedAt || row === null)) lookedAt?.outline(column);
  }
}
