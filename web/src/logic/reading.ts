// What a picture says, in words: for the line under it, for screen readers, and for reading as text.
import { sentenceLooks } from "./document";
import { nounOf, type Picture, spoken } from "./picture";
import type { Axis } from "./trace";
import { at, entropy, type Label, row, strongest } from "./weights";

export function percent(weight: number): string {
  const rounded = Math.round(weight * 100);
  return rounded === 0 && weight > 0 ? "under 1 %" : `${rounded} %`;
}

// The same where there is little room.
export function shortPercent(weight: number): string {
  return percent(weight).replace("under ", "< ");
}

const quoted = (label: Label) => (label.kind === "word" ? `“${label.text}”` : spoken(label));

function shares(labels: Label[], of: Axis, weights: Float32Array, most: number): string {
  const places = strongest(weights, most);
  if (places.length === 0) return `no single ${nounOf(of).one}`;
  return places.map((i) => `${quoted(labels[i]!)} ${percent(weights[i]!)}`).join(", ");
}

function column(of: Picture, j: number): Float32Array {
  return Float32Array.from(of.rows, (_, i) => at(of.weights, i, j));
}

export function reading(picture: Picture, i: number | null, j: number | null): string {
  const looker = i === null ? undefined : picture.rows[i];
  const lookedAt = j === null ? undefined : picture.columns[j];
  if (looker && lookedAt) {
    const weight = at(picture.weights, i!, j!);
    const said = `${quoted(looker)} looks at ${quoted(lookedAt)} with ${percent(weight)}`;
    const sentence = sentenceLooks(picture, i!).find(({ end }) => j! < end);
    if (!sentence?.number || sentence.share <= 0) return said;
    const within = percent(weight / sentence.share);
    return `${said}: sentence ${sentence.number} has ${percent(sentence.share)} of the attention, this word ${within} of that`;
  }
  if (looker)
    return `${quoted(looker)} looks at ${shares(picture.columns, picture.columnAxis, row(picture.weights, i!), 4)}`;
  if (lookedAt)
    return `${quoted(lookedAt)} is looked at by ${shares(picture.rows, picture.rowAxis, column(picture, j!), 4)}`;
  return "";
}

// What the rows and columns of a matrix are.
export function axesInWords({ rowName, columnName, rowAxis, columnAxis }: Picture): string {
  return `Each row is a ${nounOf(rowAxis).one} of the ${rowName}, each column a ${nounOf(columnAxis).one} of the ${columnName}.`;
}

export interface ReadRow {
  word: string;
  looksAt: string;
  entropy: string;
}

// The whole picture, one line for each row.
export function readRows(picture: Picture): ReadRow[] {
  return picture.rows.map((label, i) => {
    const weights = row(picture.weights, i);
    return {
      word: spoken(label),
      looksAt: shares(picture.columns, picture.columnAxis, weights, 3),
      entropy: entropy(weights).toFixed(2),
    };
  });
}
