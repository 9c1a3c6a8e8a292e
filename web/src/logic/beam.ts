// The hypotheses of a beam search as a tree whose columns are the steps.
import type { Hypothesis } from "./trace";

export interface Twig {
  step: number;
  place: number; // among the step's hypotheses
  from: number;
  token: string; // as it is read: "Haus", "-es" for a piece that continues a word
  probability: number; // of the token after what stood before it, 0 to 1
  score: number;
  ended: boolean;
  chosen: boolean; // on the way to the output
  text: string; // all its tokens so far
}

// A hypothesis that is over says that.
export function tokenOf(twig: Twig): string {
  return twig.ended ? "⟨end⟩" : twig.token;
}

export function twigs(beam: Hypothesis[][]): Twig[][] {
  // A vocabulary of whole words writes no marks where words begin.
  const inPieces = beam.some((step) => step.some((h) => h.token.startsWith("▁")));
  const readable = (token: string) => (inPieces ? token.replace(/^▁/, " ") : ` ${token}`);
  const result: Twig[][] = [];
  beam.forEach((hypotheses, step) => {
    const before = beam[step - 1];
    result.push(
      hypotheses.map((h, place) => ({
        step,
        place,
        from: h.from,
        token: inPieces && !h.ended ? (h.token.startsWith("▁") ? h.token.slice(1) : `-${h.token}`) : h.token,
        probability: probability(h.logProbability, before?.[h.from]?.logProbability ?? 0),
        score: h.score,
        ended: h.ended,
        chosen: h.chosen,
        text: (result[step - 1]?.[h.from]?.text ?? "") + (h.ended ? "" : readable(h.token)),
      })),
    );
  });
  markChosen(result);
  return result;
}

// Of a token, from the log-probabilities of all tokens with it and before it.
function probability(all: number, before: number): number {
  return all === Number.NEGATIVE_INFINITY ? 0 : Math.min(1, Math.exp(all - before));
}

// A trace may mark the last hypothesis of the output only, or each on the way: both give the whole way.
function markChosen(steps: Twig[][]) {
  for (let step = steps.length - 1; step > 0; --step) {
    for (const twig of steps[step]!) {
      const parent = steps[step - 1]![twig.from];
      if (twig.chosen && parent) parent.chosen = true;
    }
  }
}
