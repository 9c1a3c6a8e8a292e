// Which weights of a trace are shown, and with which labels.
import {
  type Attention,
  type Axis,
  axisOf,
  inputsOf,
  isChosen,
  isWords,
  type Matrix,
  outputOf,
  sizeOf,
  type Trace,
} from "./trace";
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
  attention: string; // "alignment", something made of several attentions, or the name of one of them
  head: number; // from 1; 0: the mean of the heads; -1: the largest of their weights
}

export const meanHead = 0;
export const maxHead = -1;

export const theAlignment: Choice = { attention: "alignment", head: meanHead };

export interface Picture {
  rowAxis: Axis;
  columnAxis: Axis;
  rowName: string; // what a person calls the axis: "output", "premise"
  columnName: string;
  rows: Label[];
  columns: Label[];
  weights: Matrix;
}

export interface AttentionShape {
  name: string;
  layer: number;
  heads: number;
  rows: string; // names of axes
  columns: string;
}

export function shapeOf(attention: Attention): AttentionShape {
  return { ...attention, heads: attention.heads.length };
}

const mostSent = 2 ** 21; // weights that the server sends in one answer

// What to ask the server for beside the trace: all attentions, or the last of them that fit into one answer.
export function attentionsThatFit(shapes: AttentionShape[], trace: Trace, most = mostSent): true | string[] {
  const names: string[] = [];
  let sum = 0;
  for (const { name, heads, rows, columns } of [...shapes].reverse()) {
    sum += heads * sizeOf(axisOf(trace, rows)) * sizeOf(axisOf(trace, columns));
    if (sum > most) return names;
    names.unshift(name);
  }
  return true;
}

// What a person calls an axis: the last is the output, a single text before it the input; others have names.
export function calledOf(trace: Trace, name: string): string {
  const output = outputOf(trace);
  if (name === output.name) return output.kind === "label" ? "label" : isChosen(output) ? output.name : "output";
  const inputs = inputsOf(trace);
  return inputs.length === 1 && isWords(inputs[0]!) ? "input" : name;
}

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

// What stands on an axis, for sentences about it.
export function nounOf(axis: Axis): { one: string; many: string } {
  if (axis.kind === "image") return { one: "place", many: "places" };
  if (axis.kind === "sound") return { one: "moment", many: "moments" };
  return { one: "word", many: "words" };
}

export interface AttentionGroup {
  title: string; // "Output looks at input"
  members: AttentionShape[]; // by layer
}

// Attentions between the same axes, those of the output to an input first.
export function groups(trace: Trace): AttentionGroup[] {
  const output = outputOf(trace).name;
  const found = new Map<string, AttentionGroup & { place: number }>();
  for (const attention of trace.attentions) {
    const { rows, columns } = attention;
    const title = `${capital(calledOf(trace, rows))} looks at ${calledOf(trace, columns)}`;
    const place = rows === output ? (columns === output ? 2 : 0) : 1;
    const group = found.get(title) ?? { title, place, members: [] };
    found.set(title, group);
    group.members.push(shapeOf(attention));
  }
  return Array.from(found.values())
    .sort((a, b) => a.place - b.place)
    .map(({ title, members }) => ({ title, members: members.sort((a, b) => a.layer - b.layer) }));
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

const thumbnailSize = 64; // numbers on each side at most

export function headRows(trace: Trace, group: AttentionGroup): HeadRow[] {
  return group.members.map((member) => {
    const { name, heads } = trace.attentions.find((a) => a.name === member.name)!;
    return { name, title: titleOf(member, group), heads: heads.map((h) => thumbnail(h, thumbnailSize)) };
  });
}

// One head of a label that looks at a text, or the mean of several, as a text of its own.
export interface TextHead {
  title: string;
  choice: Choice;
  picture: Picture;
}

// Of each attention the mean of its heads, if it has several, then each of them; none where no label looks at a text.
export function textHeads(trace: Trace, { members }: AttentionGroup, level: Level, keepEnd: boolean): TextHead[] {
  const [first] = members;
  if (!first || !isChosen(axisOf(trace, first.rows)) || !isWords(axisOf(trace, first.columns))) return [];
  return members.flatMap((member) => {
    const heads = Array.from({ length: member.heads }, (_, h) => h + 1);
    return (heads.length > 1 ? [meanHead, ...heads] : heads).map((head) => {
      const title = head === meanHead ? "Mean of all heads" : `Head ${head}`;
      const choice = { attention: member.name, head };
      return {
        title: members.length > 1 ? `${title} · ${member.name}` : title,
        choice,
        picture: picture(trace, choice, level, keepEnd)!,
      };
    });
  });
}

export interface Option {
  value: string;
  title: string;
  group: string; // empty: before all groups
}

// One matrix that is made of a trace.
interface Made {
  value: string;
  title: string;
  rows: string;
  columns: string;
  weights: () => Matrix | null;
}

// What can be made of the alignment and of several attentions.
function made(trace: Trace): Made[] {
  const { alignment, attentions, rows, columns } = trace;
  const output = outputOf(trace);
  const called = (name: string) => calledOf(trace, name);
  const result: Made[] = [];
  if (alignment) {
    result.push({ value: "alignment", title: "The model's alignment", rows, columns, weights: () => alignment });
    if (layersOf(attentions, columns, columns).length > 0) {
      const noun = nounOf(axisOf(trace, columns)).many;
      const title = `Rollout: ${called(rows)} to ${called(columns)} ${noun}`;
      result.push({
        value: "rollout",
        title,
        rows,
        columns,
        weights: () => throughEncoder(alignment, attentions, columns),
      });
    }
  }
  for (const { name } of trace.axes) {
    if (layersOf(attentions, name, name).length < 2) continue;
    result.push({
      value: `rollout.${name}`,
      title: `Rollout: ${called(name)} to ${called(name)}`,
      rows: name,
      columns: name,
      weights: () => selfRollout(attentions, name, name === output.name && output.kind === "text"),
    });
  }
  const inputs = inputsOf(trace);
  for (const { name } of inputs) {
    const layers = layersOf(attentions, output.name, name);
    if (layers.length < 2) continue;
    result.push({
      value: `mean.${name}`,
      title: inputs.length > 1 ? `Mean of all layers: ${called(output.name)} to ${called(name)}` : "Mean of all layers",
      rows: output.name,
      columns: name,
      weights: () => mean(layers.map((a) => mean(a.heads))),
    });
  }
  return result;
}

// Everything that can be chosen as the attention of this trace.
export function attentionOptions(trace: Trace): Option[] {
  const options: Option[] = made(trace).map(({ value, title }) => ({ value, title, group: "" }));
  for (const group of groups(trace)) {
    for (const member of group.members) {
      options.push({ value: member.name, title: titleOf(member, group), group: group.title });
    }
  }
  return options;
}

export function headCount(trace: Trace, attention: string): number {
  return trace.attentions.find((a) => a.name === attention)?.heads.length ?? 0;
}

interface Chosen {
  rows: string;
  columns: string;
  weights: Matrix | null;
}

function chosen(trace: Trace, { attention, head }: Choice): Chosen | null {
  const found = trace.attentions.find((a) => a.name === attention);
  if (found) {
    const { rows, columns, heads } = found;
    return { rows, columns, weights: head === maxHead ? largest(heads) : (heads[head - 1] ?? mean(heads)) };
  }
  const of = made(trace).find((each) => each.value === attention);
  return of ? { rows: of.rows, columns: of.columns, weights: of.weights() } : null;
}

// The choice if the trace has it, otherwise what the trace has first.
export function possibleChoice(trace: Trace, choice: Choice): Choice {
  const options = attentionOptions(trace);
  if (!options.some((o) => o.value === choice.attention))
    return { attention: options[0]?.value ?? "alignment", head: meanHead };
  return choice.head > headCount(trace, choice.attention) ? { ...choice, head: meanHead } : choice;
}

// The axes that a choice is between, whether or not there are weights.
export function axesOf(trace: Trace, choice: Choice): { row: Axis; column: Axis } {
  const found = trace.attentions.find((a) => a.name === choice.attention);
  const of = found ?? made(trace).find((each) => each.value === choice.attention) ?? trace;
  return { row: axisOf(trace, of.rows), column: axisOf(trace, of.columns) };
}

// The words of the output that were copied rather than written are marked with "<".
function withCopiedMarked(trace: Trace, axis: Axis, rows: Label[]): Label[] {
  const { copied } = trace;
  if (!copied || axis.name !== outputOf(trace).name) return rows;
  const share = ({ tokens }: Label) => tokens.reduce((sum, token) => sum + copied[token]!, 0) / tokens.length;
  return rows.map((row) => (share(row) > 0.5 ? { ...row, text: `${row.text} <` } : row));
}

// Null where the model has no attention to show.
export function picture(trace: Trace, choice: Choice, level: Level, keepEnd: boolean): Picture | null {
  const found = chosen(trace, choice);
  if (!found?.weights) return null;
  const [rowAxis, columnAxis] = [axisOf(trace, found.rows), axisOf(trace, found.columns)];
  const rows = withCopiedMarked(trace, rowAxis, labels(rowAxis, level, keepEnd));
  const columns = labels(columnAxis, level, keepEnd);
  return {
    rowAxis,
    columnAxis,
    rowName: calledOf(trace, found.rows),
    columnName: calledOf(trace, found.columns),
    rows,
    columns,
    weights: merged(found.weights, rows, columns),
  };
}

// The weight of the deepest colour. Of many small places none has much, so there it is the largest that there is.
export function deepest({ columnAxis, weights }: Picture): number {
  if (isWords(columnAxis)) return 1;
  return weights.values.reduce((a, b) => Math.max(a, b), 0) || 1;
}

// The heads of the chosen attention one by one, for the lines of all heads; none where there is no choice of heads.
export function headPictures(trace: Trace, choice: Choice, level: Level, keepEnd: boolean): Picture[] {
  const heads = headCount(trace, choice.attention);
  return Array.from({ length: heads }, (_, h) => picture(trace, { ...choice, head: h + 1 }, level, keepEnd)!);
}

// The ways to show weights between two axes, the first first; heads and search beside them.
export type View = "matrix" | "lines" | "picture" | "text" | "heads" | "beam";
export const views: readonly View[] = ["matrix", "lines", "picture", "text", "heads", "beam"];

export function viewsOf(trace: Trace, choice: Choice): View[] {
  const { row, column } = axesOf(trace, choice);
  const output = outputOf(trace);
  const result: View[] = [];
  if (isWords(row) && column.kind === "image") result.push("picture");
  else if (isChosen(row) && isWords(column)) result.push("text");
  else if (isWords(row) && isWords(column)) result.push("matrix", "lines");
  else result.push("matrix");
  if (!isChosen(output) || trace.alignment || trace.attentions.length) result.push("heads");
  if (!isChosen(output)) result.push("beam");
  return result;
}

export function possibleView(trace: Trace, choice: Choice, view: View): View {
  const possible = viewsOf(trace, choice);
  return possible.includes(view) ? view : possible[0]!;
}

// A label as a person reads it.
export function shown(label: Label): string {
  return label.kind === "end" ? "⟨end⟩" : label.text;
}

export function spoken(label: Label): string {
  return label.kind === "end" ? "the end of the sentence" : label.text;
}
