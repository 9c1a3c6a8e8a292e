// A text whose words are tinted by how much the chosen label looked at them. Where it was cut into sentences, each
// stands in a line of its own behind a bar of its share.
import { element, moveByArrows, textWidth } from "../dom";
import type { Theme } from "../logic/colour";
import { depths, type SentenceLook, sentenceLooks } from "../logic/document";
import { capital, type Picture, shown } from "../logic/picture";
import { percent, shortPercent } from "../logic/reading";
import { textSvg } from "../logic/svg";
import { textOf } from "../logic/trace";
import { leastDepth, tint, written } from "./tinted";
import type { PictureView, Point } from "./view";

export class HighlightedTextView implements PictureView {
  readonly root: HTMLElement;
  readonly #title = element("h3");
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
    this.root = element("div", { class: "text-view" }, this.#title, this.#text, this.#note);
  }

  show(picture: Picture, theme: Theme) {
    this.#picture = picture;
    const sentences = sentenceLooks(picture);
    const deep = depths(picture, sentences);
    const most = deep.reduce((a, b) => Math.max(a, b), 0);
    this.#words = picture.columns.map((label, j) => {
      const word = element("button", { type: "button", class: "word", tabindex: j === 0 ? 0 : -1 }, shown(label));
      if (deep[j]! > leastDepth * most) tint(word, deep[j]! / most, theme);
      return word;
    });
    // Of several inputs this is one; a single input needs no name.
    this.#title.hidden = picture.columnName === "input";
    this.#title.textContent = capital(picture.columnName);
    const letters = [...textOf(picture.columnAxis)];
    this.#text.replaceChildren(
      ...(sentences.length
        ? this.#lines(letters, picture, sentences)
        : written(letters, picture.columns, this.#words, 0, letters.length)),
    );
    this.#note.textContent = sentences.length
      ? `Each bar is its sentence's share of the attention. The colour of a word stands for √(its sentence's share) × its own share within the sentence; the deepest is ${most.toFixed(2)}.`
      : `The deepest colour stands for ${percent(most)} of the attention.`;
    this.#lit = null;
  }

  #lines(letters: string[], { columns }: Picture, sentences: SentenceLook[]): HTMLElement[] {
    const most = Math.max(...sentences.map(({ share }) => share)) || 1;
    return sentences.map((sentence, i) => {
      const { begin, end } = sentence;
      const from = columns[begin]!.begin;
      const next = sentences[i + 1];
      let to = next ? columns[next.begin]!.begin : letters.length;
      while (to > from && letters[to - 1]!.trim() === "") --to; // a line needs no space behind it
      const parts = written(letters, columns.slice(begin, end), this.#words.slice(begin, end), from, to);
      const bar = element("span", { class: "share-bar" });
      bar.style.width = `${(100 * sentence.share) / most}%`;
      const known = sentence.number !== null;
      const label = known
        ? `Sentence ${sentence.number}, ${percent(sentence.share)} of the attention`
        : "In no sentence";
      return element(
        "div",
        { class: "sentence-line", role: "group", "aria-label": label },
        element("span", { class: "share-shaft", "aria-hidden": "true" }, known && bar),
        element("span", { class: "share", "aria-hidden": "true" }, known && shortPercent(sentence.share)),
        element("div", { dir: "auto" }, ...parts),
      );
    });
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
