// The trace of a first draft that is still being written: one row more with each token that comes.
import { type Axis, axisOf, sizeOf, type Trace, type WordsAxis } from "./trace";

export interface TokenEvent {
  step: number;
  token: string;
  text: string; // the draft so far
  weights?: number[];
}

// The inputs as far as the server has told them; the output is empty.
export function beginning(inputs: Axis[], output: string): Trace {
  const empty: WordsAxis = { name: output, kind: "text", text: "", tokens: [], words: [] };
  return {
    version: 2,
    model: "",
    system: "",
    job: "",
    axes: [...inputs, empty],
    rows: output,
    columns: inputs[0]?.name ?? output,
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
  const columns = trace.axes.length > 1 ? sizeOf(axisOf(trace, trace.columns)) : 0;
  const rows = trace.alignment?.values ?? new Float32Array(0);
  if (event.weights?.length === columns && columns > 0 && rows.length === before.tokens.length * columns) {
    const values = new Float32Array(rows.length + columns);
    values.set(rows);
    values.set(event.weights, rows.length);
    result.alignment = { rows: values.length / columns, columns, values };
  }
  return result;
}
