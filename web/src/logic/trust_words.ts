// The numbers of trust, each with a plain sentence.
import type { Trust } from "./trace";

export interface TrustLine {
  name: string;
  value: string;
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
  return `${drop > 0 ? "falls" : "rises"} by ${points} point${points === 1 ? "" : "s"} of a hundred`;
}

export function trustLines(trust: Trust): TrustLine[] {
  const lines: TrustLine[] = [];
  const add = (name: string, value: number | undefined, meaning: (x: number) => string) => {
    if (value !== undefined) lines.push({ name, value: value.toFixed(2), meaning: meaning(value) });
  };
  add(
    "Agreement with gradients",
    trust.gradientAgreement,
    (x) =>
      `The words the model looked at most and the words its output reacts to most are ${agreement(x)} (1 is the same order, 0 is chance).`,
  );
  add(
    "Agreement with leaving words out",
    trust.leaveOneOutAgreement,
    (x) =>
      `Ordering the words by weight, and by how much leaving each one out changes the output, is ${agreement(x)} (1 is the same order, 0 is chance).`,
  );
  add(
    "Comprehensiveness",
    trust.comprehensiveness,
    (x) =>
      `Without the most attended words, the probability of this output ${change(x)}; the more it falls, the more the model needed them.`,
  );
  add(
    "Sufficiency",
    trust.sufficiency,
    (x) =>
      `With nothing but the most attended words, it ${change(x)}; the closer to no change, the more they were enough.`,
  );
  add(
    "Alignment error",
    trust.alignmentError,
    (x) =>
      `Compared with links drawn by people, ${Math.round(x * 100)} of a hundred are wrong or missing; 0 is a perfect match.`,
  );
  return lines;
}
