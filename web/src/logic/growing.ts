// The trace of a translation that is still being written: one row more with each token that comes.
import type { Trace, TraceText } from "./trace";

export interface TokenEvent {
  step: number;
  token: string;
  text: string; // the translation so far
  weights?: number[];
}

export function beginning(source: TraceText): Trace {
  return {
    model: "",
    system: "",
    source,
    target: { text: "", tokens: [], words: [] },
    attentions: [],
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
  const words = wordsOf(event.text);
  const ended = event.token === "</s>";
  const last = words.at(-1);
  const token = {
    text: event.token,
    begin: ended || !last ? [...event.text].length : last.begin,
    end: [...event.text].length,
    word: ended ? -1 : words.length - 1,
  };
  const columns = trace.source.tokens.length;
  const before = trace.alignment?.values ?? new Float32Array(0);
  const result: Trace = {
    ...trace,
    target: { text: event.text, tokens: [...trace.target.tokens, token], words },
  };
  if (event.weights?.length === columns) {
    const values = new Float32Array(before.length + columns);
    values.set(before);
    values.set(event.weights, before.length);
    result.alignment = { rows: values.length / columns, columns, values };
  }
  return result;
}
