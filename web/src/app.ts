// The state of the page and everything that changes it. Views read the state and call these functions; nothing else.
import { Client, type ExplainRequest, isWritten, type ModelInfo, ServerError } from "./client";
import type { Theme } from "./logic/colour";
import { attentionsThatFit, type Choice, possibleChoice } from "./logic/picture";
import { firstSide, fromHash, type Settings, type Side, toHash } from "./logic/settings";
import { isChosen, outputOf, parseTraces, type Trace, textOf } from "./logic/trace";

export type Asking = "output" | "heads" | "trust" | "beam";

export interface Answer {
  trace: Trace | null;
  draft: "growing" | "stopped" | null; // the trace is a first draft, still being written or left as it was
  replaced: string; // the first draft, where the search found something else
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

// An image or a sound that a person gave.
export interface GivenFile {
  name: string;
  type: string; // "image/png"
  base64: string;
}

export interface State {
  settings: Settings;
  files: readonly (GivenFile | undefined)[]; // one for each input of the model, where it is no text
  theme: Theme;
  server: "none" | "connecting" | "ready";
  models: ModelInfo[];
  opened: Opened[]; // traces from files; the answers are of these, not the server's, unless it is empty
  picked: number[]; // which of them are shown
  answers: Answer[]; // one for each side
  problem: Problem | null;
  wantsToken: boolean;
}

const noAnswer: Answer = { trace: null, draft: null, replaced: "", asking: null };
const mostWeights = 5e5; // as many as are asked for without a word; an output may be twice as long as thought
const tokensOfFile = 500; // of an image or a sound, as a guess

const unanswered = {
  heads: "The server sent no layers and heads for this model.",
  trust: "The server could not test this picture.",
  beam: "The server sent no hypotheses of its search.",
};

// How many numbers all heads of a model would be for these texts; a token is taken as three characters.
export function weightsOf(model: ModelInfo, texts: readonly string[]): number {
  const written = texts.reduce((sum, text) => sum + text.length / 3 + 2, 0);
  const tokens = Math.max(written, model.inputs.every(isWritten) ? 0 : tokensOfFile);
  const labelled = (name: string) => isChosen(model.output) && name === model.output.name;
  return (model.attentions ?? []).reduce((sum, a) => sum + a.heads * (labelled(a.rows) ? 1 : tokens) * tokens, 0);
}

function sameInputs(a: ModelInfo, b: ModelInfo): boolean {
  return JSON.stringify([a.inputs, a.output.kind]) === JSON.stringify([b.inputs, b.output.kind]);
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
      files: [],
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

  // Listeners hear of a change once in a frame.
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

  // Says something that went wrong outside of the server.
  complain(message: string) {
    this.#set({ problem: { message, retry: null } });
  }

  dismiss() {
    this.#set({ problem: null });
  }

  // Finds the server and asks it about what the link says, or about the model's example.
  async connect() {
    this.#set({ server: "connecting", problem: null });
    try {
      const models = await this.#client.models();
      this.#set({ server: "ready", models, wantsToken: false });
    } catch (error) {
      this.#fail(error, () => void this.connect());
      return;
    }
    if (!this.#state.settings.texts.some(Boolean)) this.set({ texts: this.model(0)?.example ?? [] });
    this.askAll();
  }

  model(side: number): ModelInfo | undefined {
    const { models, settings } = this.#state;
    const name = settings.sides[side]?.model;
    return models.find((m) => m.name === name) ?? models[0];
  }

  // The models that can stand on a side: beside the first, those that take the same.
  modelsFor(side: number): ModelInfo[] {
    const first = this.model(0);
    return this.#state.models.filter((m) => side === 0 || (first && sameInputs(first, m)));
  }

  // Asks about these texts, one for each input, and about the files that were given.
  run(texts: string[], choices: readonly string[]) {
    this.set({ texts: texts.map((text) => text.trim()), choices, forced: null });
    if (this.complete()) this.askAll();
  }

  // An image or a sound for an input; asked about at once if nothing else is missing.
  give(input: number, file: GivenFile, texts: string[]) {
    const files = this.#state.files.slice();
    files[input] = file;
    this.#set({ files });
    this.run(texts, this.#state.settings.choices);
  }

  // Whether every input of the model is there.
  complete(): boolean {
    const { settings, files } = this.#state;
    const inputs = this.model(0)?.inputs ?? [];
    return inputs.length > 0 && inputs.every((input, i) => (isWritten(input) ? !!settings.texts[i] : !!files[i]));
  }

  // Makes the model give this output; null gives its own again.
  force(output: string | null) {
    this.set({ forced: output?.trim() || null });
    this.askAll();
  }

  choose(side: number, choice: Choice) {
    this.#setSide(side, { choice });
  }

  chooseModel(side: number, name: string) {
    const before = this.model(side);
    this.#setSide(side, { model: name, normaliser: "" });
    if (side > 0 || !before) void this.#ask(side);
    else this.#changeJob(before, this.model(0)!);
  }

  // What was typed stays if the new model can take it; an example gives way to the new model's own, or to nothing.
  #changeJob(before: ModelInfo, now: ModelInfo) {
    const { settings, files } = this.#state;
    const same = sameInputs(before, now);
    const typed = same && settings.texts.join("\n") !== (before.example ?? []).join("\n");
    this.#set({ files: same ? files : [] });
    if (!same) this.compare(false);
    if (!typed) this.set({ texts: now.example ?? [], choices: [], forced: null });
    this.askAll();
  }

  chooseNormaliser(side: number, normaliser: string) {
    this.#setSide(side, { normaliser });
    void this.#ask(side);
  }

  // A second side: another model if there is one, otherwise another normaliser of the same.
  compare(on: boolean) {
    const { settings, answers } = this.#state;
    const first = settings.sides[0]!;
    if (!on) {
      this.#requests[1]?.abort();
      this.#set({ answers: answers.slice(0, 1), picked: this.#state.picked.slice(0, 1) });
      this.set({ sides: [first] });
      return;
    }
    const other = this.modelsFor(1).find((m) => m !== this.model(0));
    const normaliser = this.normalisers(0).find((n) => n !== first.normaliser) ?? "";
    const second = other ? { model: other.name } : { model: first.model, normaliser };
    this.set({ sides: [first, { ...firstSide, ...second }] });
    void this.#ask(1);
  }

  // What can take the place of the normaliser a model was trained with.
  normalisers(side: number): string[] {
    return this.model(side)?.normalisers ?? [];
  }

  askAll() {
    this.#state.settings.sides.forEach((_, side) => void this.#ask(side));
  }

  // Ends what is being asked, and keeps what came.
  stop() {
    for (const request of this.#requests) request?.abort();
    const answers = this.#state.answers.map(
      (answer): Answer => ({ ...answer, draft: answer.draft && "stopped", asking: null }),
    );
    this.#set({ answers });
  }

  #request(side: number, model: ModelInfo): ExplainRequest {
    const { settings, files } = this.#state;
    const { normaliser } = settings.sides[side]!;
    const [only] = model.inputs;
    const given =
      model.inputs.length === 1 && isWritten(only!)
        ? { text: settings.texts[0]! }
        : {
            inputs: Object.fromEntries(
              model.inputs.map((input, i) => [
                input.name,
                isWritten(input) ? settings.texts[i]! : { base64: files[i]!.base64 },
              ]),
            ),
          };
    return {
      ...given,
      model: model.name,
      ...(model.output.kind === "choice" && settings.choices.length > 0 && { choices: settings.choices }),
      ...(normaliser && { normaliser }),
      ...(settings.forced !== null && { target: settings.forced }),
    };
  }

  async #ask(side: number) {
    const model = this.model(side);
    if (!model || !this.complete()) {
      this.#requests[side]?.abort();
      this.#setAnswer(side, noAnswer);
      return;
    }
    const attentions = weightsOf(model, this.#state.settings.texts) <= mostWeights;
    const request = { ...this.#request(side, model), attentions };
    this.#set({ problem: null, opened: [], picked: [] });
    this.#setAnswer(side, { ...noAnswer, trace: this.#state.answers[side]?.trace ?? null, asking: "output" });
    let draft = "";
    const grow = (trace: Trace) => {
      draft = textOf(outputOf(trace));
      this.#setAnswer(side, { trace, draft: "growing" });
    };
    const trace = await this.#try(side, (signal) =>
      request.target !== undefined
        ? this.#client.explain(request, signal)
        : this.#client.stream(request, model, grow, signal),
    );
    if (!trace) return;
    const replaced = draft !== textOf(outputOf(trace)) ? draft : "";
    this.#setAnswer(side, { trace, draft: null, replaced, asking: null });
  }

  // The same output once more, with what the first answer left out.
  async more(side: number, what: Exclude<Asking, "output">) {
    const answer = this.#state.answers[side];
    const model = this.model(side);
    if (!answer?.trace || !model || answer.asking) return;
    this.#setAnswer(side, { asking: what });
    const request = {
      ...this.#request(side, model),
      ...(what === "heads" && { attentions: attentionsThatFit(model.attentions ?? [], answer.trace) }),
      ...(what === "trust" && { trust: true }),
      ...(what === "beam" && { alternatives: true }),
    };
    const got = await this.#try(
      side,
      (signal) => this.#client.explain(request, signal),
      () => this.more(side, what),
    );
    if (!got) return;
    this.#setAnswer(side, { trace: together(answer.trace, got), draft: null, asking: null });
    const missing = { heads: !got.attentions.length, trust: !got.trust, beam: !got.beam.length }[what];
    if (missing) this.#set({ problem: { message: unanswered[what], retry: null } });
  }

  // Null where it failed, which the person has then been told, or where it was ended.
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
      const draft = this.#state.answers[side]?.draft && "stopped";
      this.#setAnswer(side, { asking: null, draft: draft ?? null });
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
    this.set({ texts: [], choices: [], forced: null, sides });
  }

  // Another link in the same window.
  follow(hash: string) {
    const before = this.#state.settings;
    const settings = fromHash(hash);
    this.#set({ settings });
    const asked = (s: Settings) =>
      JSON.stringify([s.texts, s.choices, s.forced, s.sides.map((x) => [x.model, x.normaliser])]);
    if (this.#state.server === "ready" && asked(before) !== asked(settings)) this.askAll();
  }
}

// What two answers about the same output say; of another output the new one counts.
function together(before: Trace, now: Trace): Trace {
  const text = (trace: Trace) => textOf(outputOf(trace));
  if (text(before) !== text(now) || before.version !== now.version) return now;
  const trust = now.trust ?? before.trust;
  return {
    ...now,
    attentions: now.attentions.length ? now.attentions : before.attentions,
    beam: now.beam.length ? now.beam : before.beam,
    ...(trust && { trust }),
  };
}
