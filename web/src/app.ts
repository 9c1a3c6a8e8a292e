// The state of the page and everything that changes it. Views read the state and call these functions; nothing else.
import { Client, type ExplainRequest, type ModelInfo, ServerError } from "./client";
import type { Theme } from "./logic/colour";
import { type Choice, possibleChoice } from "./logic/picture";
import { firstSide, fromHash, type Settings, type Side, toHash } from "./logic/settings";
import { parseTraces, type Trace } from "./logic/trace";

export type Asking = "translation" | "heads" | "trust" | "beam";

export interface Answer {
  trace: Trace | null;
  growing: boolean; // the trace is of a translation that is still being written
  beam: Trace | null; // of a beam search for the same text
  asking: Asking | null;
}

export interface Problem {
  message: string;
  retry: (() => void) | null;
}

export interface Opened {
  name: string;
  trace: Trace;
}

export interface State {
  settings: Settings;
  theme: Theme;
  server: "none" | "connecting" | "ready";
  models: ModelInfo[];
  opened: Opened[]; // traces from files; the answers are of these, not the server's, unless it is empty
  picked: number[]; // which of them are shown
  answers: Answer[]; // one a side
  problem: Problem | null;
  wantsToken: boolean;
}

const noAnswer: Answer = { trace: null, growing: false, beam: null, asking: null };
const example = "the old cat does not see the white house .";
const mostWeights = 2e6; // as many as are asked for without a word

const unanswered = {
  heads: "The server has no layers and heads of this model.",
  trust: "The server could not test this picture.",
  beam: "The server sent no hypotheses of its search.",
};

// How many numbers all heads of a model would be for a text; a token is taken as three characters.
export function weightsOf(model: ModelInfo | undefined, text: string): number {
  const tokens = text.length / 3 + 2;
  return (model?.attentions ?? []).reduce((sum, a) => sum + a.heads * tokens * tokens, 0);
}

export class App {
  #state: State;
  readonly #client = new Client();
  readonly #requests: (AbortController | undefined)[] = [];
  readonly #listeners: ((state: State) => void)[] = [];
  #scheduled = false;

  constructor(theme: Theme, hash: string) {
    this.#state = {
      settings: fromHash(hash),
      theme,
      server: "none",
      models: [],
      opened: [],
      picked: [],
      answers: [noAnswer],
      problem: null,
      wantsToken: false,
    };
  }

  get state(): State {
    return this.#state;
  }

  // Listeners hear of a change once a frame.
  listen(listener: (state: State) => void) {
    this.#listeners.push(listener);
  }

  #set(change: Partial<State>) {
    this.#state = { ...this.#state, ...change };
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      for (const listener of this.#listeners) listener(this.#state);
    });
  }

  #setAnswer(side: number, change: Partial<Answer>) {
    const answers = this.#state.settings.sides.map((_, i) => {
      const answer = this.#state.answers[i] ?? noAnswer;
      return i === side ? { ...answer, ...change } : answer;
    });
    this.#set({ answers });
  }

  #setSide(side: number, change: Partial<Side>) {
    const sides = this.#state.settings.sides.map((s, i) => (i === side ? { ...s, ...change } : s));
    this.set({ sides });
  }

  // Changes what is chosen, and the address with it. Nothing is asked of the server.
  set(change: Partial<Settings>) {
    const settings = { ...this.#state.settings, ...change };
    this.#set({ settings });
    const { pathname, search } = window.location;
    try {
      window.history.replaceState(null, "", toHash(settings) || pathname + search);
    } catch {
      // A page from disk may be forbidden to change its address; then there is just no link to share.
    }
  }

  setTheme(theme: Theme) {
    this.#set({ theme });
  }

  dismiss() {
    this.#set({ problem: null });
  }

  // Finds the server and translates the sentence of the link, or an example.
  async connect() {
    this.#set({ server: "connecting", problem: null });
    try {
      const models = await this.#client.models();
      this.#set({ server: "ready", models, wantsToken: false });
    } catch (error) {
      this.#fail(error, () => void this.connect());
      return;
    }
    const { settings } = this.#state;
    if (!settings.text) this.set({ text: this.model(0)?.example ?? example });
    this.askAll();
  }

  model(side: number): ModelInfo | undefined {
    const { models, settings } = this.#state;
    const name = settings.sides[side]?.model;
    return models.find((m) => m.name === name) ?? models[0];
  }

  translate(text: string) {
    if (!text.trim()) return;
    this.set({ text: text.trim(), forced: null });
    this.askAll();
  }

  // Makes the model write this translation; null gives its own again.
  force(translation: string | null) {
    this.set({ forced: translation?.trim() || null });
    this.askAll();
  }

  choose(side: number, choice: Choice) {
    this.#setSide(side, { choice });
  }

  chooseModel(side: number, model: string) {
    this.#setSide(side, { model, normaliser: "" });
    void this.#ask(side);
  }

  chooseNormaliser(side: number, normaliser: string) {
    this.#setSide(side, { normaliser });
    void this.#ask(side);
  }

  // A second side: another model if there is one, otherwise another normaliser of the same.
  compare(on: boolean) {
    const { settings, models, answers } = this.#state;
    const first = settings.sides[0]!;
    if (!on) {
      this.#requests[1]?.abort();
      this.#set({ answers: answers.slice(0, 1), picked: this.#state.picked.slice(0, 1) });
      this.set({ sides: [first] });
      return;
    }
    const other = models.find((m) => m !== this.model(0));
    const normaliser = this.normalisers(0).find((n) => n !== first.normaliser) ?? "";
    const second = other ? { model: other.name } : { model: first.model, normaliser };
    this.set({ sides: [first, { ...firstSide, ...second }] });
    void this.#ask(1);
  }

  // What can take the place of the normaliser a model was trained with.
  normalisers(side: number): string[] {
    const model = this.model(side);
    if (!model?.attention) return [];
    const trained = model.attention.split("×").at(-1)?.trim();
    return (model.normalisers ?? ["softmax", "sparsemax", "entmax"]).filter((n) => n !== trained);
  }

  askAll() {
    this.#state.settings.sides.forEach((_, side) => void this.#ask(side));
  }

  #request(side: number): ExplainRequest {
    const { settings } = this.#state;
    const model = this.model(side);
    const { normaliser } = settings.sides[side]!;
    return {
      text: settings.text,
      ...(model && { model: model.name }),
      ...(normaliser && { normaliser }),
      ...(settings.forced !== null && { target: settings.forced }),
    };
  }

  async #ask(side: number) {
    const model = this.model(side);
    if (!model || !this.#state.settings.text) return;
    const request = {
      ...this.#request(side),
      attentions: weightsOf(model, this.#state.settings.text) <= mostWeights,
    };
    this.#set({ problem: null, opened: [], picked: [] });
    this.#setAnswer(side, { ...noAnswer, trace: this.#state.answers[side]?.trace ?? null, asking: "translation" });
    const answer = await this.#try(side, (signal) =>
      request.target !== undefined
        ? this.#client.explain(request, signal)
        : this.#client.stream(request, (trace) => this.#setAnswer(side, { trace, growing: true }), signal),
    );
    if (answer) this.#setAnswer(side, { trace: answer, growing: false, asking: null });
  }

  // The same translation once more, with what the first answer left out.
  async more(side: number, what: Exclude<Asking, "translation">) {
    const answer = this.#state.answers[side];
    if (!answer?.trace || answer.asking) return;
    this.#setAnswer(side, { asking: what });
    const request = {
      ...this.#request(side),
      attentions: what === "heads" || (what === "trust" && answer.trace.attentions.length > 0),
      trust: what === "trust",
      ...(what === "beam" ? { beam: 5, alternatives: true } : { beam: 1 }),
    };
    const trace = await this.#try(
      side,
      (signal) => this.#client.explain(request, signal),
      () => this.more(side, what),
    );
    if (!trace) return;
    this.#setAnswer(side, what === "beam" ? { beam: trace, asking: null } : { trace, asking: null });
    const missing = { heads: !trace.attentions.length, trust: !trace.trust, beam: !trace.beam.length }[what];
    if (missing) this.#set({ problem: { message: unanswered[what], retry: null } });
  }

  // Null where it failed, which the person has then been told, or where something newer was asked for.
  async #try(
    side: number,
    ask: (signal: AbortSignal) => Promise<Trace>,
    retry: () => unknown = () => this.#ask(side),
  ): Promise<Trace | null> {
    this.#requests[side]?.abort();
    const request = new AbortController();
    this.#requests[side] = request;
    try {
      const trace = await ask(request.signal);
      return request.signal.aborted ? null : trace;
    } catch (error) {
      if (request.signal.aborted) return null;
      this.#setAnswer(side, { asking: null });
      this.#fail(error, () => void retry());
      return null;
    }
  }

  #fail(error: unknown, retry: () => void) {
    const fault = error instanceof ServerError ? error.fault : "broken";
    const message = error instanceof Error ? error.message : String(error);
    this.#set({
      problem: { message, retry: fault === "refused" ? null : retry },
      wantsToken: fault === "token",
    });
  }

  useToken(token: string) {
    this.#client.token = token;
    const retry = this.#state.problem?.retry;
    this.#set({ problem: null, wantsToken: false });
    retry?.();
  }

  // Shows the traces of files instead of asking the server. Two files stand beside each other; of more traces one is
  // shown at a time.
  open(files: { name: string; json: string }[]) {
    const opened: Opened[] = [];
    for (const { name, json } of files) {
      try {
        opened.push(...parseTraces(json).map((trace) => ({ name, trace })));
      } catch (error) {
        const message = `${name} cannot be shown. ${(error as Error).message}`;
        this.#set({ problem: { message, retry: null } });
        return;
      }
    }
    for (const request of this.#requests) request?.abort();
    this.#set({ opened, problem: null });
    this.pick(files.length === 2 && opened.length === 2 ? [0, 1] : [0]);
  }

  pick(picked: number[]) {
    const { opened, settings } = this.#state;
    const traces = picked.map((i) => opened[i]!.trace);
    const sides = traces.map((trace, i) => {
      const choice = settings.sides[i]?.choice ?? firstSide.choice;
      return { ...firstSide, choice: possibleChoice(trace, choice) };
    });
    this.#set({ picked, answers: traces.map((trace) => ({ ...noAnswer, trace })) });
    this.set({ text: "", forced: null, sides });
  }

  // Another link in the same window.
  follow(hash: string) {
    const before = this.#state.settings;
    const settings = fromHash(hash);
    this.#set({ settings });
    const asked = (s: Settings) => JSON.stringify([s.text, s.forced, s.sides.map((x) => [x.model, x.normaliser])]);
    if (this.#state.server === "ready" && asked(before) !== asked(settings)) this.askAll();
  }
}
