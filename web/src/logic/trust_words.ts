// The numbers of trust, each with a plain sentence.
import type { Trust } from "./trace";

export interface TrustLine {
  name: string;
  value: string;
  random: string; // the same for weights in random order; empty: not measured
  meaning: string;
}

function agreement(tau: number): string {
  if (tau >= 0.7) return "largely the same";
  if (tau >= 0.4) return "partly the same";
  if (tau >= 0.15) return "only loosely the same";
  if (tau > -0.15) return "unrelated";
  return "nearly opposite";
}

function change(drop: number): string {
  const points = Math.round(Math.abs(drop) * 100);
  if (points === 0) return "does not change";
  return `${drop > 0 ? "falls" : "rises"} by ${points} percentage point${points === 1 ? "" : "s"}`;
}

// `words` is what the columns of the alignment are: words, places, moments.
export function trustLines(trust: Trust, words = "words"): TrustLine[] {
  const lines: TrustLine[] = [];
  const add = (name: string, value: number | undefined, meaning: (x: number) => string, random?: number) => {
    if (value === undefined) return;
    lines.push({ name, value: value.toFixed(2), random: random?.toFixed(2) ?? "", meaning: meaning(value) });
  };
  add(
    "Agreement with gradients",
    trust.gradientAgreement,
    (x) =>
      `The ${words} the model looked at most and the ${words} its output reacts to most are ${agreement(x)} (1 is the same order, 0 is chance).`,
  );
  add(
    `Agreement with leaving ${words} out`,
    trust.leaveOneOutAgreement,
    (x) =>
      `The order of the ${words} by weight and by how much the output changes without them is ${agreement(x)} (1 is the same order, 0 is chance).`,
  );
  add(
    "Comprehensiveness",
    trust.comprehensiveness,
    (x) =>
      `Without the ${words} looked at most, the probability of this output ${change(x)}; the more it falls, the more the model needed them.`,
    trust.randomComprehensiveness,
  );
  add(
    "Sufficiency",
    trust.sufficiency,
    (x) =>
      `With nothing but the ${words} looked at most, the probability ${change(x)}; the closer to no change, the more these ${words} were enough.`,
    trust.randomSufficiency,
  );
  add(
    "Alignment error",
    trust.alignmentError,
    (x) => `Compared with links drawn by people, ${Math.round(x * 100)} % are wrong or missing; 0 is a perfect match.`,
  );
  return lines;
}
