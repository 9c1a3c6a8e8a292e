// The trace of a first draft that is still being written: one row more with each token that comes.
import { type Axis, axisOf, sizeOf, type Trace, type WordsAxis } from "./trace";

export interface TokenEvent {
  step: number;
  token: string;
  text: string; // the draft so far
  weights?: number[];
}

export type AxisKind = Axis["kind"];

// An axis of which nothing is known yet.
export function unknownAxis(name: string, kind: AxisKind): Axis {
  if (kind === "image") return { name, kind, rows: 1, columns: 1, preview: "" };
  if (kind === "sound")
    return { name, kind, rows: 0, frameSeconds: 0, frameMargin: 0, preview: "", waveform: [], playable: "" };
  return { name, kind, text: "", tokens: [], words: [], sentenceEnds: [] };
}

// The inputs as far as the server has told them, the first the one that is looked at; the output is empty.
export function beginning(inputs: Axis[], output: string): Trace {
  return {
    version: 2,
    model: "",
    system: "",
    job: "",
    axes: [...inputs, unknownAxis(output, "text")],
    rows: output,
    columns: inputs[0]!.name,
    attentions: [],
    choices: [],
    beam: [],
  };
}

function wordsOf(text: string) {
  const words: { text: string; begin: number; end: number }[] = [];
  let place = 0;
  for (const part of text.split(/(\s+)/)) {
    const end = place + [...part].length;
    if (part.trim()) words.push({ text: part, begin: place, end });
    place = end;
  }
  return words;
}

export function grown(trace: Trace, event: TokenEvent): Trace {
  const before = trace.axes.at(-1) as WordsAxis;
  const words = wordsOf(event.text);
  const ended = event.token === "</s>";
  const end = [...event.text].length;
  const last = words.at(-1);
  const known = [...before.text].length;
  const token = {
    text: event.token,
    begin: ended || !last ? end : Math.min(end, Math.max(last.begin, known)),
    end,
    word: ended ? -1 : words.length - 1,
  };
  const result: Trace = {
    ...trace,
    axes: [...trace.axes.slice(0, -1), { ...before, text: event.text, tokens: [...before.tokens, token], words }],
  };
  const columns = sizeOf(axisOf(trace, trace.columns));
  const rows = trace.alignment?.values ?? new Float32Array(0);
  if (event.weights?.length === columns && columns > 0 && rows.length === before.tokens.length * columns) {
    const values = new Float32Array(rows.length + columns);
    values.set(rows);
    values.set(event.weights, rows.length);
    result.alignment = { rows: values.length / columns, columns, values };
  }
  return result;
}
