// Talks to heed serve. Every fault becomes a ServerError with words for the person at the page.
import { EventReader } from "./logic/events";
import { beginning, grown, type TokenEvent, unknownAxis } from "./logic/growing";
import type { AttentionShape } from "./logic/picture";
import { readAxis, readTrace, type Trace } from "./logic/trace";

export type InputKind = "text" | "document" | "image" | "sound";

export interface InputInfo {
  name: string;
  kind: InputKind;
}

export interface ModelInfo {
  name: string;
  job: string; // "translation"
  verb: string; // "translate"
  system: string;
  attention: string; // "additive × global × softmax", or empty
  parameters?: number;
  inputs: InputInfo[];
  output: { name: string; kind: "text" | "label" | "choice" };
  labels?: string[]; // that it chooses from
  languages?: string[];
  attentions?: AttentionShape[];
  normalisers?: string[]; // that can take the place of the trained one
  example?: string[]; // one text for each input
}

export function isWritten(input: InputInfo): boolean {
  return input.kind === "text" || input.kind === "document";
}

export interface ExplainRequest {
  model?: string;
  text?: string; // of a job with one text
  inputs?: Record<string, string | { base64: string }>; // of any other
  choices?: readonly string[]; // that can be answered
  target?: string;
  beam?: number;
  attentions?: boolean | string[]; // all of them, or those of these names
  alternatives?: boolean;
  trust?: boolean;
  normaliser?: string;
}

export type Fault = "gone" | "busy" | "token" | "refused" | "broken";

export class ServerError extends Error {
  constructor(
    readonly fault: Fault,
    message: string,
  ) {
    super(message);
  }
}

const words: Record<number, [Fault, string]> = {
  401: ["token", "This server asks for an API token."],
  403: ["refused", "The server does not answer pages from this address."],
  408: ["busy", "The request took too long to arrive. Please try again."],
  413: ["refused", "This is too large for the server."],
  429: ["busy", "The server is busy: its queue is full. Please try again in a moment."],
  503: ["busy", "The server is shutting down or not ready. Please try again in a moment."],
  504: ["busy", "The answer took too long, and the server gave up. A shorter input may help."],
};

async function faultOf(response: Response): Promise<ServerError> {
  const [fault, message] = words[response.status] ?? ["refused", ""];
  let said = "";
  try {
    said = String(((await response.json()) as { error?: unknown }).error ?? "");
  } catch {
    // Not JSON: the status has to say it.
  }
  if (message) return new ServerError(fault, message);
  return new ServerError(fault, said ? `The server says: ${said}` : `The server answered ${response.status}.`);
}

const gone = () => new ServerError("gone", "The server does not answer. Is heed serve still running?");

export class Client {
  token = ""; // in memory only

  async #send(path: string, options: RequestInit): Promise<Response> {
    const headers = new Headers(options.headers);
    if (this.token) headers.set("Authorization", `Bearer ${this.token}`);
    let response: Response;
    try {
      response = await fetch(path, { ...options, headers });
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw gone();
    }
    if (!response.ok) throw await faultOf(response);
    return response;
  }

  #post(request: ExplainRequest, accept: string, signal: AbortSignal): Promise<Response> {
    return this.#send("explain", {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: accept },
      body: JSON.stringify(request),
      signal,
    });
  }

  async models(): Promise<ModelInfo[]> {
    const response = await this.#send("models", { headers: { Accept: "application/json" } });
    try {
      const { models } = (await response.json()) as { models: ModelInfo[] };
      if (models.every((m) => m.name && m.verb && m.output.kind && m.inputs.every((i) => i.name && i.kind))) {
        return models;
      }
    } catch {
      // Falls through: whatever answered is not heed serve, or another version of it.
    }
    throw new ServerError("broken", "The server at this address is not a heed serve of this page's version.");
  }

  async explain(request: ExplainRequest, signal: AbortSignal): Promise<Trace> {
    const response = await this.#post(request, "application/json", signal);
    let json: unknown;
    try {
      json = await response.json();
    } catch (error) {
      if (signal.aborted) throw error;
      throw gone();
    }
    return understood(() => readTrace(json));
  }

  // Calls `onGrowth` with each token of a first draft of `model`; gives the search's result at the end.
  async stream(
    request: ExplainRequest,
    model: ModelInfo,
    onGrowth: (draft: Trace) => void,
    signal: AbortSignal,
  ): Promise<Trace> {
    const response = await this.#post(request, "text/event-stream", signal);
    if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
      const json: unknown = await response.json();
      return understood(() => readTrace(json));
    }
    const events = new EventReader();
    const pieces = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const inputs = model.inputs.map(({ name, kind }) => unknownAxis(name, kind));
    let draft = beginning(inputs, model.output.name);
    for (;;) {
      let piece: ReadableStreamReadResult<string>;
      try {
        piece = await pieces.read();
      } catch (error) {
        if (signal.aborted) throw error;
        piece = { done: true, value: undefined };
      }
      if (piece.done) {
        throw new ServerError("gone", "The connection broke while the answer was coming. Is heed serve still running?");
      }
      for (const { name, data } of events.read(piece.value)) {
        const value = understood(() => JSON.parse(data) as unknown);
        if (name === "error") {
          throw new ServerError("refused", `The server says: ${String((value as { error?: unknown }).error)}`);
        }
        if (name === "trace") return understood(() => readTrace(value));
        if (name === "source") {
          const source = understood(() => readAxis(value, "source", model.inputs[0]!.name));
          const others = inputs.slice(1).filter((axis) => axis.name !== source.name);
          draft = beginning([source, ...others], model.output.name);
        }
        if (name === "token") {
          draft = grown(draft, value as TokenEvent);
          onGrowth(draft);
        }
      }
    }
  }
}

function understood<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ServerError("broken", `The server's answer cannot be read: ${(error as Error).message}`);
  }
}
