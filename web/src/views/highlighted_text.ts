// A text whose words are tinted by how much the chosen label looked at them.
import { element, moveByArrows, textWidth } from "../dom";
import { colourOf, css, inkOn, type Theme } from "../logic/colour";
import { type Picture, shown } from "../logic/picture";
import { percent } from "../logic/reading";
import { textSvg } from "../logic/svg";
import { textOf } from "../logic/trace";
import { row as rowOf } from "../logic/weights";
import type { PictureView, Point } from "./view";

export class HighlightedTextView implements PictureView {
  readonly root: HTMLElement;
  readonly #text: HTMLElement;
  readonly #note = element("p", { class: "note" });
  #picture: Picture | null = null;
  #words: HTMLButtonElement[] = [];
  #lit: HTMLElement | null = null;

  constructor(point: Point) {
    this.#text = element("div", { class: "highlighted", dir: "auto", role: "group", "aria-label": "The text" });
    const pointAt = (event: Event) => {
      const place = this.#words.indexOf((event.target as Element).closest("button")!);
      point(place < 0 ? null : 0, place < 0 ? null : place);
    };
    this.#text.addEventListener("pointerover", pointAt);
    this.#text.addEventListener("focusin", pointAt);
    this.#text.addEventListener("pointerleave", () => point(null, null));
    this.#text.addEventListener("focusout", () => point(null, null));
    moveByArrows(this.#text, () => this.#words);
    this.root = element("div", { class: "text-view" }, this.#text, this.#note);
  }

  // What stands between the words stays as it was written.
  show(picture: Picture, theme: Theme) {
    this.#picture = picture;
    const letters = [...textOf(picture.columnAxis)];
    const looks = rowOf(picture.weights, 0);
    const most = looks.reduce((a, b) => Math.max(a, b), 0);
    const parts: (Node | string)[] = [];
    let place = 0;
    this.#words = picture.columns.map((label, j) => {
      if (label.begin > place) parts.push(letters.slice(place, label.begin).join(""));
      place = Math.max(place, label.end);
      const word = element("button", { type: "button", class: "word", tabindex: j === 0 ? 0 : -1 }, shown(label));
      const share = most > 0 ? looks[j]! / most : 0;
      if (share > 0.03) {
        const colour = colourOf(share, theme);
        word.style.background = css(colour);
        word.style.color = inkOn(colour);
      }
      parts.push(word);
      return word;
    });
    parts.push(letters.slice(place).join(""));
    this.#text.replaceChildren(...parts);
    this.#note.textContent = `The deepest colour stands for ${percent(most)} of the attention.`;
    this.#lit = null;
  }

  svg(title: string, theme: Theme): string {
    return textSvg(this.#picture!, title, theme, textWidth);
  }

  highlight(_row: number | null, column: number | null) {
    this.#lit?.classList.remove("lit");
    this.#lit = column === null ? null : (this.#words[column] ?? null);
    this.#lit?.classList.add("lit");
  }
}
