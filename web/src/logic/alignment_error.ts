// Which head of a trace aligns words best, defined as in src/metrics/aer.h and src/trace/pick.h: the alignment error
// rate of Och and Ney 2003, with sure links S, possible links P ⊇ S and the head's links A,
//   AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
// A has one link for each output word: to the input word with the largest weight, pieces of words merged, ends left out.
import { type Choice, groups, picture, titleOf } from "./picture";
import { axisOf, isChosen, isWords, type Matrix, type Trace } from "./trace";
import { labels, row } from "./weights";

// Links are written "input-output", words counted from 0.
export interface GoldLinks {
  sure: Set<string>;
  possible: Set<string>; // the sure ones among them
}

// What is wrong with links, in words for the person who gave them.
export class LinkError extends Error {}

// "0-0 1-2 2?1 3p1": i-j is a sure link, i?j and ipj are possible ones. They must be between words of the trace.
export function readLinks(line: string, trace: Trace): GoldLinks {
  const [sources, targets] = [trace.columns, trace.rows].map(
    (name) => labels(axisOf(trace, name), "words", false).length,
  );
  const gold: GoldLinks = { sure: new Set(), possible: new Set() };
  for (const text of line.split(/\s+/).filter(Boolean)) {
    const [, i, mark, j] = /^(\d+)([-?p])(\d+)$/.exec(text) ?? [];
    if (!mark) throw new LinkError(`“${text}” is no link: links look like 0-0, or 0p1 if they are only possible.`);
    if (Number(i) >= sources! || Number(j) >= targets!) {
      throw new LinkError(
        `“${text}” links words that are not there: the input has ${sources}, the output ${targets}, counted from 0.`,
      );
    }
    const link = `${Number(i)}-${Number(j)}`;
    gold.possible.add(link);
    if (mark === "-") gold.sure.add(link);
  }
  return gold;
}

// Of equal weights the first counts.
export function hardLinks(weights: Matrix): Set<string> {
  const links = new Set<string>();
  for (let i = 0; i < weights.rows && weights.columns > 0; ++i) {
    const looks = row(weights, i);
    const best = looks.reduce((most, weight, j) => (weight > looks[most]! ? j : most), 0);
    links.add(`${best}-${i}`);
  }
  return links;
}

export function alignmentError(proposed: Set<string>, gold: GoldLinks): number {
  const common = (links: Set<string>) => Array.from(proposed).filter((link) => links.has(link)).length;
  const whole = proposed.size + gold.sure.size;
  return whole === 0 ? 0 : 1 - (common(gold.sure) + common(gold.possible)) / whole;
}

export interface RankedHead {
  choice: Choice;
  title: string; // "Layer 2, head 3"
  error: number;
}

// How many heads look from words at words, as the alignment does.
export function aligningHeads(trace: Trace): number {
  return looks(trace).reduce((sum, attention) => sum + attention.heads.length, 0);
}

function looks(trace: Trace) {
  const axes = [trace.rows, trace.columns].map((name) => axisOf(trace, name));
  if (!axes.every((axis) => isWords(axis) && !isChosen(axis))) return [];
  return trace.attentions.filter((a) => a.rows === trace.rows && a.columns === trace.columns);
}

// Every such head, the one with the smallest error first.
export function headsByError(trace: Trace, gold: GoldLinks): RankedHead[] {
  const ranked = groups({ ...trace, attentions: looks(trace) }).flatMap((group) =>
    group.members.flatMap((member) =>
      Array.from({ length: member.heads }, (_, h) => {
        const choice = { attention: member.name, head: h + 1 };
        const { weights } = picture(trace, choice, "words", false)!;
        const title = `${titleOf(member, group)}, head ${h + 1}`;
        return { choice, title, error: alignmentError(hardLinks(weights), gold) };
      }),
    ),
  );
  return ranked.sort((a, b) => a.error - b.error);
}
