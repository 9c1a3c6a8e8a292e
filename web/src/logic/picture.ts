// Which weights of a trace are shown, and with which labels.
import type { Attention, Matrix, Side, Trace } from "./trace";
import {
  type Label,
  type Level,
  labels,
  largest,
  layersOf,
  mean,
  merged,
  selfRollout,
  throughEncoder,
  thumbnail,
} from "./weights";

export interface Choice {
  attention: string; // one of `made`, or the name of one of the trace's attentions
  head: number; // from 1; 0: the mean of the heads; -1: the largest of their weights
}

export const meanHead = 0;
export const maxHead = -1;

// What is made of several attentions.
const made = {
  alignment: "The model's alignment",
  rollout: "Rollout: output to input words",
  "rollout.source": "Rollout: input to input",
  "rollout.target": "Rollout: output to output",
  "mean.source": "Mean of all layers",
} as const;

export const theAlignment: Choice = { attention: "alignment", head: meanHead };

export interface Picture {
  rowSide: Side;
  columnSide: Side;
  rows: Label[];
  columns: Label[];
  weights: Matrix;
}

export interface AttentionShape {
  name: string;
  layer: number;
  heads: number;
  rows: Side;
  columns: Side;
}

export function shapeOf(attention: Attention): AttentionShape {
  return { ...attention, heads: attention.heads.length };
}

const lookers: Record<Side, string> = { source: "Input", target: "Output" };
const lookedAt: Record<Side, string> = { source: "input", target: "output" };

export interface AttentionGroup {
  title: string; // "Output looks at input"
  members: AttentionShape[]; // by layer
}

// Attentions of the same kind, the ones between output and input first.
export function groups(attentions: AttentionShape[]): AttentionGroup[] {
  const kinds: [Side, Side][] = [
    ["target", "source"],
    ["source", "source"],
    ["target", "target"],
    ["source", "target"],
  ];
  return kinds
    .map(([rows, columns]) => ({
      title: `${lookers[rows]} looks at ${lookedAt[columns]}`,
      members: attentions.filter((a) => a.rows === rows && a.columns === columns).sort((a, b) => a.layer - b.layer),
    }))
    .filter((group) => group.members.length > 0);
}

// What a person calls one of a group: its layer, and its name where the layer does not tell it apart.
export function titleOf(attention: AttentionShape, group: AttentionGroup): string {
  const twins = group.members.filter((a) => a.layer === attention.layer).length > 1;
  return twins ? `Layer ${attention.layer} · ${attention.name}` : `Layer ${attention.layer}`;
}

// A row of the overview of heads: one attention, each of its heads made small.
export interface HeadRow {
  name: string;
  title: string;
  heads: Matrix[];
}

const thumbnailSize = 64; // numbers a side at most

export function headRows(trace: Trace, group: AttentionGroup): HeadRow[] {
  return group.members.map((member) => {
    const { name, heads } = trace.attentions.find((a) => a.name === member.name)!;
    return { name, title: titleOf(member, group), heads: heads.map((h) => thumbnail(h, thumbnailSize)) };
  });
}

export interface Option {
  value: string;
  title: string;
  group: string; // empty: before all groups
}

// Everything that can be chosen as the attention of this trace.
export function attentionOptions(trace: Trace): Option[] {
  const options: Option[] = [];
  for (const [value, title] of Object.entries(made)) {
    if (possible(trace, value)) options.push({ value, title, group: "" });
  }
  for (const group of groups(trace.attentions.map(shapeOf))) {
    for (const member of group.members) {
      options.push({ value: member.name, title: titleOf(member, group), group: group.title });
    }
  }
  return options;
}

function possible(trace: Trace, value: string): boolean {
  const has = (rows: Side, columns: Side) => layersOf(trace.attentions, rows, columns).length;
  switch (value) {
    case "alignment":
      return trace.alignment !== undefined;
    case "rollout":
      return trace.alignment !== undefined && has("source", "source") > 0;
    case "rollout.source":
      return has("source", "source") > 1;
    case "rollout.target":
      return has("target", "target") > 1;
    default:
      return has("target", "source") > 1;
  }
}

export function headCount(trace: Trace, attention: string): number {
  return trace.attentions.find((a) => a.name === attention)?.heads.length ?? 0;
}

interface Chosen {
  rows: Side;
  columns: Side;
  weights: Matrix | null | undefined;
}

function chosen(trace: Trace, { attention, head }: Choice): Chosen {
  const cross = { rows: "target", columns: "source" } as const;
  const found = trace.attentions.find((a) => a.name === attention);
  if (found) {
    const { rows, columns, heads } = found;
    return { rows, columns, weights: head === maxHead ? largest(heads) : (heads[head - 1] ?? mean(heads)) };
  }
  switch (attention) {
    case "rollout":
      return { ...cross, weights: trace.alignment && throughEncoder(trace.alignment, trace.attentions) };
    case "rollout.source":
      return { rows: "source", columns: "source", weights: selfRollout(trace.attentions, "source") };
    case "rollout.target":
      return { rows: "target", columns: "target", weights: selfRollout(trace.attentions, "target") };
    case "mean.source": {
      const layers = layersOf(trace.attentions, "target", "source");
      return { ...cross, weights: layers.length ? mean(layers.map((a) => mean(a.heads))) : null };
    }
    default:
      return { ...cross, weights: trace.alignment };
  }
}

// The choice if the trace has it, otherwise what the trace has first.
export function possibleChoice(trace: Trace, choice: Choice): Choice {
  const options = attentionOptions(trace);
  if (!options.some((o) => o.value === choice.attention))
    return { attention: options[0]?.value ?? "alignment", head: meanHead };
  return choice.head > headCount(trace, choice.attention) ? { ...choice, head: meanHead } : choice;
}

// Null where the model has no attention to show.
export function picture(trace: Trace, choice: Choice, level: Level, keepEnd: boolean): Picture | null {
  const found = chosen(trace, choice);
  if (!found.weights) return null;
  const rows = labels(trace[found.rows], level, keepEnd);
  const columns = labels(trace[found.columns], level, keepEnd);
  return {
    rowSide: found.rows,
    columnSide: found.columns,
    rows,
    columns,
    weights: merged(found.weights, rows, columns),
  };
}

// The heads of the chosen attention one by one, for the lines of all heads; none where there is no choice of heads.
export function headPictures(trace: Trace, choice: Choice, level: Level, keepEnd: boolean): Picture[] {
  const heads = headCount(trace, choice.attention);
  return Array.from({ length: heads }, (_, h) => picture(trace, { ...choice, head: h + 1 }, level, keepEnd)!);
}

// A label as a person reads it.
export function shown(label: Label): string {
  return label.isEnd ? "⟨end⟩" : label.text;
}

export function spoken(label: Label): string {
  return label.isEnd ? "the end of the sentence" : label.text;
}
