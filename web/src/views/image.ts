// The weights over the image that was looked at: large for one word, small for each of them.
import { element, moveByArrows } from "../dom";
import type { Theme } from "../logic/colour";
import { type Picture, shown } from "../logic/picture";
import { percent } from "../logic/reading";
import { darkness, imageSvg } from "../logic/svg";
import type { ImageAxis } from "../logic/trace";
import { row as rowOf } from "../logic/weights";
import type { PictureView, Point } from "./view";

// The image with the dark of one word's weights over it.
class Overlaid {
  readonly root: HTMLElement;
  readonly #image = element("img", { alt: "", draggable: "false" });
  readonly #dark = element("canvas", { "aria-hidden": "true" });

  constructor(name: string) {
    this.root = element("span", { class: name }, this.#image, this.#dark);
    this.#image.addEventListener("load", () => this.#shape());
  }

  // Height by width: the image's own, whatever its grid, or the grid's where there is no image.
  get aspect(): number {
    const { naturalWidth, naturalHeight } = this.#image;
    const known = !this.#image.hidden && naturalWidth > 0 && naturalHeight > 0;
    return known ? naturalHeight / naturalWidth : this.#dark.height / this.#dark.width;
  }

  #shape() {
    this.root.style.aspectRatio = String(1 / this.aspect);
  }

  show(axis: ImageAxis, looks: Float32Array) {
    this.#image.hidden = !axis.preview;
    if (axis.preview && this.#image.src !== axis.preview) this.#image.src = axis.preview;
    const most = looks.reduce((a, b) => Math.max(a, b), 0);
    const pixels = new ImageData(axis.columns, axis.rows);
    looks.forEach((weight, i) => {
      pixels.data[4 * i + 3] = Math.round(255 * darkness(weight, most));
    });
    this.#dark.width = axis.columns;
    this.#dark.height = axis.rows;
    this.#dark.getContext("2d")!.putImageData(pixels, 0, 0);
    this.#shape();
  }
}

export class ImageView implements PictureView {
  readonly root: HTMLElement;
  readonly #large = new Overlaid("overlaid large");
  readonly #cell = element("span", { class: "cell", hidden: true, "aria-hidden": "true" });
  readonly #caption = element("p", { class: "image-caption", "aria-live": "polite" });
  readonly #strip = element("div", { class: "image-strip", role: "group", "aria-label": "The image for each word" });
  readonly #point: Point;
  #picture: Picture | null = null;
  #small: { button: HTMLButtonElement; image: Overlaid; word: HTMLElement }[] = [];
  #row = 0; // the word that the large image is about

  constructor(point: Point) {
    this.#point = point;
    this.#large.root.append(this.#cell);
    this.#large.root.addEventListener("pointermove", (event) => this.#pointAt(event));
    this.#large.root.addEventListener("pointerleave", () => point(null, null));
    moveByArrows(this.#strip, () => this.#small.map(({ button }) => button));
    this.root = element(
      "div",
      { class: "image-view" },
      element("figure", {}, this.#large.root, this.#caption),
      this.#strip,
      element(
        "p",
        { class: "note" },
        "Bright places are those that the word looked at; the brightest has the largest weight.",
      ),
    );
  }

  get #axis(): ImageAxis {
    return this.#picture!.columnAxis as ImageAxis;
  }

  show(picture: Picture, _theme: Theme, available: number) {
    this.#picture = picture;
    this.#large.root.style.width = `${Math.min(460, available)}px`;
    for (const { button } of this.#small.splice(picture.rows.length)) button.remove();
    picture.rows.forEach((label, i) => {
      this.#small[i] ??= this.#make(i);
      const { image, word } = this.#small[i]!;
      image.show(this.#axis, rowOf(picture.weights, i));
      if (word.textContent !== shown(label)) word.textContent = shown(label);
    });
    this.#row = Math.min(this.#row, Math.max(0, picture.rows.length - 1));
    this.highlight(null, null);
  }

  #make(i: number) {
    const image = new Overlaid("overlaid");
    const word = element("span", { dir: "auto" });
    const point = () => this.#point(i, null);
    const button = element(
      "button",
      {
        type: "button",
        class: "image-word",
        tabindex: i === 0 ? 0 : -1,
        on: { pointerenter: point, focus: point, click: point, pointerleave: () => this.#point(null, null) },
      },
      image.root,
      word,
    );
    this.#strip.append(button);
    return { button, image, word };
  }

  svg(title: string, theme: Theme): string {
    return imageSvg(this.#picture!, title, theme, this.#large.aspect);
  }

  #pointAt(event: PointerEvent) {
    const { rows, columns } = this.#axis;
    const box = this.#large.root.getBoundingClientRect();
    const x = Math.floor(((event.clientX - box.left) / box.width) * columns);
    const y = Math.floor(((event.clientY - box.top) / box.height) * rows);
    const inside = x >= 0 && y >= 0 && x < columns && y < rows;
    this.#point(this.#row, inside ? y * columns + x : null);
  }

  // The word that was pointed at last stays.
  highlight(row: number | null, column: number | null) {
    const picture = this.#picture;
    if (!picture || picture.rows.length === 0) return;
    if (row !== null) this.#row = row;
    const looks = rowOf(picture.weights, this.#row);
    this.#large.show(this.#axis, looks);
    this.#caption.textContent = `“${shown(picture.rows[this.#row]!)}” looked at its brightest place with ${percent(Math.max(...looks))}`;
    this.#small.forEach(({ button }, i) => {
      button.classList.toggle("lit", i === this.#row);
    });
    this.#cell.hidden = column === null;
    if (column === null) return;
    const { rows, columns } = this.#axis;
    this.#cell.style.left = `${((column % columns) * 100) / columns}%`;
    this.#cell.style.top = `${(Math.floor(column / columns) * 100) / rows}%`;
    this.#cell.style.width = `${100 / columns}%`;
    this.#cell.style.height = `${100 / rows}%`;
  }
}
