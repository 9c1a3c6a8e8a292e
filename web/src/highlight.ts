// Which word of the picture is pointed at. All views hear of it, also those of the other side.
import type { Picture } from "./logic/picture";
import type { Side } from "./logic/trace";
import type { Label } from "./logic/weights";

export interface Mark {
  side: Side;
  text: string; // the whole text it stands in
  begin: number;
  end: number;
}

export interface Highlight {
  row: Mark | null; // what looks
  column: Mark | null; // what is looked at
}

export const nothing: Highlight = { row: null, column: null };

export function markOf(label: Label | undefined, side: Side, text: string): Mark | null {
  return label ? { side, text, begin: label.begin, end: label.end } : null;
}

// The label a mark falls on; null where it is of another text. The end of a sentence is an empty stretch.
export function placeOf(mark: Mark | null, labels: Label[], side: Side, text: string): number | null {
  if (!mark || mark.side !== side || mark.text !== text) return null;
  const place = labels.findIndex((l) =>
    mark.begin === mark.end || l.begin === l.end
      ? l.begin === mark.begin && l.end === mark.end
      : l.begin < mark.end && mark.begin < l.end,
  );
  return place < 0 ? null : place;
}

export interface Places {
  row: number | null;
  column: number | null;
}

export function placesOf(highlight: Highlight, picture: Picture, texts: Record<Side, string>): Places {
  const { rowSide, columnSide } = picture;
  return {
    row: placeOf(highlight.row, picture.rows, rowSide, texts[rowSide]),
    column: placeOf(highlight.column, picture.columns, columnSide, texts[columnSide]),
  };
}

// Told at once, and apart from all other state, so that a hover redraws nothing but itself.
export class HighlightSignal {
  #value = nothing;
  readonly #listeners: ((highlight: Highlight) => void)[] = [];

  get value(): Highlight {
    return this.#value;
  }

  listen(listener: (highlight: Highlight) => void) {
    this.#listeners.push(listener);
  }

  set(highlight: Highlight) {
    if (same(highlight.row, this.#value.row) && same(highlight.column, this.#value.column)) return;
    this.#value = highlight;
    for (const listener of this.#listeners) listener(highlight);
  }
}

function same(a: Mark | null, b: Mark | null): boolean {
  return a === b || (!!a && !!b && a.side === b.side && a.begin === b.begin && a.end === b.end && a.text === b.text);
}
