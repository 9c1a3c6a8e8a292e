// Which word of the picture is pointed at. All views hear of it, also those of the other side.
import type { Picture } from "./logic/picture";
import { type Axis, textOf } from "./logic/trace";
import type { Label } from "./logic/weights";

export interface Mark {
  axis: string;
  text: string; // the whole text it stands in; empty for an image or a sound
  begin: number;
  end: number;
}

export interface Highlight {
  row: Mark | null; // what looks
  column: Mark | null; // what is looked at
}

export const nothing: Highlight = { row: null, column: null };

export function markOf(label: Label | undefined, axis: Axis): Mark | null {
  return label ? { axis: axis.name, text: textOf(axis), begin: label.begin, end: label.end } : null;
}

// The label a mark falls on; null where it is of another text. The end of a sentence is an empty stretch.
export function placeOf(mark: Mark | null, labels: Label[], axis: Axis): number | null {
  if (!mark || mark.axis !== axis.name || mark.text !== textOf(axis)) return null;
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

export function placesOf(highlight: Highlight, picture: Picture): Places {
  return {
    row: placeOf(highlight.row, picture.rows, picture.rowAxis),
    column: placeOf(highlight.column, picture.columns, picture.columnAxis),
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
  return a === b || (!!a && !!b && a.axis === b.axis && a.begin === b.begin && a.end === b.end && a.text === b.text);
}
