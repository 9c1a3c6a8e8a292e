// Words on grounds of their weights.
import { colourOf, css, inkOn, type Theme } from "../logic/colour";
import type { Label } from "../logic/weights";

export function tint(word: HTMLElement, depth: number, theme: Theme) {
  const colour = colourOf(depth, theme);
  word.style.background = css(colour);
  word.style.color = inkOn(colour);
}

export const leastDepth = 0.03; // of the deepest; a word that is fainter has no colour

// The words of some labels, and what stands between them as it was written, from one letter of the text to another.
export function written(letters: string[], labels: Label[], words: (Node | string)[], from: number, to: number) {
  const parts: (Node | string)[] = [];
  let place = from;
  labels.forEach((label, i) => {
    if (label.begin > place) parts.push(letters.slice(place, label.begin).join(""));
    place = Math.max(place, label.end);
    parts.push(words[i]!);
  });
  parts.push(letters.slice(place, to).join(""));
  return parts;
}
