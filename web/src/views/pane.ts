// One side: what one model did with its inputs, in the chosen view, with everything beside it.
import type { Answer, App, State } from "../app";
import type { ModelInfo } from "../client";
import { element, Select, textWidth } from "../dom";
import { exportJson, exportPicture } from "../export";
import { type HighlightSignal, markOf, nothing, placeOf, placesOf } from "../highlight";
import { comfortableWidth } from "../logic/layout";
import {
  attentionOptions,
  type Choice,
  headCount,
  headPictures,
  maxHead,
  meanHead,
  nounOf,
  type Picture,
  picture,
  possibleChoice,
  possibleView,
  type View,
  viewsOf,
} from "../logic/picture";
import { reading } from "../logic/reading";
import type { Settings } from "../logic/settings";
import { matrixNeeds } from "../logic/svg";
import { type Axis, axisOf, type Trace } from "../logic/trace";
import type { Label, Level } from "../logic/weights";
import type { Playback } from "../playback";
import { BeamView } from "./beam";
import { ChoicesView } from "./choices";
import { HeadRanking } from "./head_ranking";
import { HeadsView } from "./heads";
import { HighlightedTextView } from "./highlighted_text";
import { ImageView } from "./image";
import { LinesView } from "./lines";
import { MatrixView } from "./matrix";
import { EntropyView, ReadingView, TrustView } from "./measures";
import { OutputEditor } from "./output_editor";
import { SentencesView } from "./sentences";
import type { PictureView, StageView } from "./view";

const besidePicture = 346; // pixels that the measures take beside a picture
const hint = "Point at a word to see where the model looked.";

type OnePicture = Exclude<View, "heads" | "beam">;

export class Pane {
  readonly root: HTMLElement;
  readonly #app: App;
  readonly #side: number;
  readonly #signal: HighlightSignal;
  readonly #title = element("h2");
  readonly #model: Select;
  readonly #normaliser: Select;
  readonly #attention: Select;
  readonly #head: Select;
  readonly #ranking: HeadRanking;
  readonly #editor: OutputEditor;
  readonly #sentences: SentencesView;
  readonly #reading = element("p", { class: "reading-line", "aria-live": "polite" });
  readonly #stage = element("div", { class: "stage" });
  readonly #matrix: MatrixView;
  readonly #lines: LinesView;
  readonly #pictures: Record<OnePicture, PictureView>;
  readonly #choices: ChoicesView;
  readonly #empty = element("p", { class: "empty" });
  readonly #back: HTMLButtonElement; // from one head to all of them
  readonly #heads: HeadsView;
  readonly #beam = new BeamView();
  readonly #entropy: EntropyView;
  readonly #trust = new TrustView();
  readonly #text = new ReadingView();
  readonly #aside: HTMLElement;
  readonly #body: HTMLElement;
  readonly #beside: HTMLElement;
  readonly #exportPictures: HTMLButtonElement[];
  readonly #menu: HTMLDetailsElement;
  #picture: Picture | null = null;
  #active: PictureView | null = null; // the one of them on the stage
  #headOpen = false; // one of the overview's heads stands large on the stage
  #trace: Trace | null = null;
  #staged: { view: StageView; trace: Trace } | null = null; // what the export takes
  #drawn = ""; // what the picture was made from, besides the trace
  #drawnFrom: Trace | null = null;

  constructor(app: App, signal: HighlightSignal, playback: Playback, side: number) {
    this.#app = app;
    this.#side = side;
    this.#signal = signal;
    const point = (row: number | null, column: number | null) => this.#point(row, column);
    this.#matrix = new MatrixView(point, playback);
    this.#lines = new LinesView(point);
    this.#pictures = {
      matrix: this.#matrix,
      lines: this.#lines,
      picture: new ImageView(point),
      text: new HighlightedTextView(point),
    };
    this.#heads = new HeadsView((choice) => {
      this.#headOpen = true;
      app.choose(side, choice);
    });
    const showAll = () => {
      this.#headOpen = false;
      this.#redraw();
    };
    this.#back = element("button", { type: "button", class: "quiet", on: { click: showAll } }, "← All heads");
    this.#choices = new ChoicesView((label) => app.force(label));
    this.#ranking = new HeadRanking((choice) => {
      app.choose(side, choice);
      if (app.state.settings.view !== "lines") app.set({ view: "matrix" });
    });
    this.#entropy = new EntropyView((row) => point(row, null));
    this.#editor = new OutputEditor(app);
    this.#sentences = new SentencesView((axis, label) => this.#pointWord(axis, label), this.#editor.root);
    this.#model = new Select("Model", (name) => app.chooseModel(side, name));
    this.#normaliser = new Select("Normaliser", (name) => app.chooseNormaliser(side, name));
    this.#attention = new Select("Attention", (attention) => app.choose(side, { attention, head: meanHead }));
    this.#head = new Select("Head", (head) => {
      const { attention } = app.state.settings.sides[side]!.choice;
      app.choose(side, { attention, head: Number(head) });
    });
    const button = (title: string, click: () => void) =>
      element("button", { type: "button", class: "quiet", on: { click } }, title);
    this.#exportPictures = [
      button("Picture as SVG", () => this.#export("svg")),
      button("Picture as PNG", () => this.#export("png")),
    ];
    this.#menu = element(
      "details",
      { class: "menu" },
      element("summary", {}, "Export"),
      element(
        "div",
        { class: "menu-items" },
        ...this.#exportPictures,
        button("Trace as JSON", () => this.#exportTrace()),
      ),
    );
    this.#aside = element("aside", { "aria-label": "About this picture" }, this.#entropy.root, this.#trust.root);
    const controls = element(
      "div",
      { class: "controls" },
      this.#title,
      this.#model.field,
      this.#normaliser.field,
      this.#attention.field,
      this.#head.field,
      this.#menu,
    );
    this.#beside = element(
      "div",
      { class: "pane-body" },
      element("div", {}, this.#stage, this.#text.root),
      this.#aside,
    );
    this.#body = element(
      "div",
      { class: "pane-parts" },
      element("div", { class: "pane-texts" }, this.#choices.root, this.#sentences.root),
      this.#reading,
      this.#beside,
    );
    this.root = element("section", { class: "pane" }, controls, this.#ranking.root, this.#empty, this.#body);
    signal.listen(() => this.#highlight());
    new ResizeObserver(() => this.#redraw()).observe(this.#stage);
  }

  show(state: State) {
    const answer = state.answers[this.#side];
    const trace = answer?.trace ?? null;
    const side = state.settings.sides[this.#side]!;
    this.#trace = trace;
    this.#showControls(state);
    const name = trace?.model || trace?.system;
    this.#title.textContent = name ? `Model ${name}` : "Output";
    // Where the model can be chosen, the choice says its name.
    this.#title.classList.toggle("unseen", state.opened.length === 0 && state.models.length > 1);
    this.root.classList.toggle("asking", answer?.asking === "output" && !answer.draft);
    this.root.setAttribute("aria-busy", String(answer?.asking != null));
    this.#body.hidden = !trace;
    const growing = answer?.draft === "growing";
    this.#menu.hidden = !trace || growing;
    this.#ranking.root.hidden = this.#menu.hidden;
    this.#empty.hidden = trace !== null;
    this.#empty.textContent = answer?.asking ? "The answer is coming…" : "Nothing has been asked yet.";
    if (!trace || !answer) return;

    const { keepEnd } = state.settings;
    const level = levelOf(state.settings);
    const choice = possibleChoice(trace, side.choice);
    const view = possibleView(trace, choice, state.settings.view);
    if (view !== "heads") this.#headOpen = false;
    if (!growing) this.#ranking.show(trace, choice, state.opened, state.picked[this.#side] ?? 0);
    const drawn = () =>
      JSON.stringify([
        level,
        keepEnd,
        choice,
        view,
        state.theme,
        this.#headOpen,
        answer.draft,
        this.#beside.clientWidth,
      ]);
    const forced = state.settings.forced !== null;
    if (trace !== this.#drawnFrom || drawn() !== this.#drawn) {
      this.#drawnFrom = trace;
      this.#picture = picture(trace, choice, level, keepEnd);
      this.#lines.heads =
        view === "lines" && choice.head === meanHead ? headPictures(trace, choice, level, keepEnd) : [];
      const said = level === "tokens" ? trace.times?.units : trace.times?.words;
      this.#matrix.sound = { said: said ?? [], source: this.#picture ? soundOf(state, this.#picture.columnAxis) : "" };
      this.#sentences.show(trace, this.#picture, {
        level,
        keepEnd,
        growing,
        theme: state.theme,
        without: this.#picture && this.#showsText(trace, choice, view) ? [this.#picture.columnAxis.name] : [],
        note: noteOf(answer),
      });
      if (this.#picture) {
        this.#entropy.show(this.#picture);
        this.#text.show(this.#picture);
        const needs = matrixNeeds(this.#picture, textWidth, this.#beside.clientWidth);
        const tight = comfortableWidth(needs) > this.#beside.clientWidth - besidePicture;
        this.#beside.classList.toggle("wide", view === "matrix" && tight);
      }
      this.#drawn = drawn();
      this.#showStage(state, view, choice);
      this.#highlight();
    } else if (view === "heads" || view === "beam") {
      this.#showStage(state, view, choice);
    }
    if (!this.#picture) this.#entropy.root.hidden = true;
    this.#text.root.hidden = !this.#picture;
    const ready = state.server === "ready" && state.opened.length === 0 && !growing;
    const measure = ready && trace.alignment ? () => void this.#app.more(this.#side, "trust") : null;
    const noun = nounOf(axisOf(trace, trace.columns)).many;
    this.#trust.show(trace.trust, noun, answer.asking === "trust", measure);
    this.#editor.show(trace, ready, forced);
    this.#choices.show(trace, ready, forced);
    // All heads and the search are not about one picture.
    const several = (view === "heads" && !this.#headOpen) || view === "beam";
    if (several) this.#text.root.hidden = true;
    this.#reading.hidden = several || !this.#picture;
    this.#aside.hidden = several || (this.#entropy.root.hidden && this.#trust.root.hidden);
    for (const each of this.#exportPictures) each.disabled = !this.#staged;
  }

  // Whether the stage itself shows the text that is looked at.
  #showsText(trace: Trace, choice: Choice, view: View): boolean {
    return (view === "heads" && this.#headOpen ? viewsOf(trace, choice)[0] : view) === "text";
  }

  #showControls(state: State) {
    const served = state.opened.length === 0;
    const side = state.settings.sides[this.#side]!;
    const models = served ? this.#app.modelsFor(this.#side).map(modelOption) : [];
    this.#model.show(models, this.#app.model(this.#side)?.name ?? "");
    const normalisers = served ? this.#app.normalisers(this.#side) : [];
    const trained = this.#app.model(this.#side)?.attention.split("×").at(-1)?.trim();
    const asTrained = { value: "", title: trained ? `${trained}, as trained` : "as trained" };
    this.#normaliser.show([asTrained, ...normalisers.map((n) => ({ value: n, title: n }))], side.normaliser);
    const trace = this.#trace;
    if (!trace) {
      this.#attention.show([], "");
      this.#head.show([], "");
      return;
    }
    const choice = possibleChoice(trace, side.choice);
    this.#attention.show(attentionOptions(trace), choice.attention);
    const heads = headCount(trace, choice.attention);
    const each = Array.from({ length: heads }, (_, h) => ({ value: String(h + 1), title: `Head ${h + 1}` }));
    const several = [
      { value: String(meanHead), title: "Mean of all heads" },
      { value: String(maxHead), title: "Largest of all heads" },
    ];
    this.#head.show(heads > 1 ? [...several, ...each] : [], String(choice.head));
  }

  #showStage(state: State, view: View, choice: Choice) {
    const answer = state.answers[this.#side]!;
    const trace = this.#trace!;
    const asked = state.server === "ready" && state.opened.length === 0;
    const growing = answer.draft === "growing";
    this.#staged = null;
    this.#active = null;
    const shows = (shown: StageView, back = false) => {
      this.#staged = { view: shown, trace };
      const parts = back ? [this.#back, shown.root] : [shown.root];
      if (this.#stage.firstChild !== parts[0] || this.#stage.lastChild !== shown.root) {
        this.#stage.replaceChildren(...parts);
      }
    };
    const showsPicture = (which: View, back = false) => {
      this.#active = this.#pictures[which as OnePicture];
      shows(this.#active, back);
      this.#active.show(this.#picture!, state.theme, this.#stage.clientWidth || 600);
    };
    const says = (text: string) => this.#stage.replaceChildren(element("p", { class: "empty" }, text));
    const offer = (text: string, what: "heads" | "beam", title: string) => {
      const waiting = answer.asking === what;
      const click = () => void this.#app.more(this.#side, what);
      const button = element(
        "button",
        { type: "button", disabled: waiting, on: { click } },
        waiting ? "Asking…" : title,
      );
      this.#stage.replaceChildren(element("div", { class: "empty" }, element("p", {}, text), asked && button));
    };
    if (view === "beam") {
      const forced = state.settings.forced !== null;
      if (trace.beam.length) {
        this.#beam.show(trace);
        shows(this.#beam);
      } else if (growing) says("The search can be shown once the output is finished.");
      else if (forced) says("A given output is not searched for.");
      else if (asked) offer("A beam search keeps several beginnings and compares them.", "beam", "Show the search");
      else says("This trace has no beam search.");
      return;
    }
    if (view === "heads") {
      const expected = asked && !!this.#app.model(this.#side)?.attentions?.length;
      if (this.#headOpen && this.#picture && trace.attentions.length) {
        showsPicture(viewsOf(trace, choice)[0]!, true);
      } else if (trace.attentions.length) {
        this.#heads.show(trace, state.theme, levelOf(state.settings), state.settings.keepEnd);
        shows(this.#heads);
      } else if (expected && answer.asking === "output") {
        says("The heads come with the finished output.");
      } else if (expected) {
        offer("For an input this long, the weights of all heads are a large download.", "heads", "Fetch all heads");
      } else {
        says("There are no layers and heads to choose from here.");
      }
      return;
    }
    if (this.#picture) showsPicture(view);
    else if (growing) says("The weights come with the finished output.");
    else says("This model has no attention: it reads its whole input into one vector, so there is nothing to see.");
  }

  #redraw() {
    if (this.#app.state.settings.sides[this.#side]) this.show(this.#app.state);
  }

  #point(row: number | null, column: number | null) {
    const shown = this.#picture;
    if (!shown) return;
    this.#signal.set({
      row: row === null ? null : markOf(shown.rows[row], shown.rowAxis),
      column: column === null ? null : markOf(shown.columns[column], shown.columnAxis),
    });
  }

  // A word of a sentence is what looks if the picture has it as a row, otherwise what is looked at.
  #pointWord(axis: Axis, label: Label | null) {
    const shown = this.#picture;
    const mark = markOf(label ?? undefined, axis);
    if (!shown || !mark) this.#signal.set(nothing);
    else if (placeOf(mark, shown.rows, shown.rowAxis) !== null) this.#signal.set({ row: mark, column: null });
    else this.#signal.set({ row: null, column: mark });
  }

  #highlight() {
    if (!this.#picture || !this.#trace) return;
    const { row, column } = placesOf(this.#signal.value, this.#picture);
    this.#active?.highlight(row, column);
    this.#sentences.highlight(row, column);
    this.#entropy.highlight(row);
    const said = reading(this.#picture, row, column);
    this.#reading.textContent = said || hint;
    this.#reading.classList.toggle("hint", !said);
  }

  #export(kind: "svg" | "png") {
    if (!this.#staged) return;
    const { settings, theme } = this.#app.state;
    void exportPicture(kind, settings.view, this.#staged.view, this.#staged.trace, theme);
    this.#menu.open = false;
  }

  #exportTrace() {
    if (this.#trace) exportJson(this.#trace);
    this.#menu.open = false;
  }
}

// What can be played of an axis: the sound in its trace, or the one that was given for it.
function soundOf(state: State, axis: Axis): string {
  if (axis.kind !== "sound") return "";
  if (axis.playable || state.opened.length > 0) return axis.playable;
  const file = state.files.find((given) => given?.type.startsWith("audio/"));
  return file ? `data:${file.type};base64,${file.base64}` : "";
}

function levelOf({ level }: Settings): Level {
  return level === "words" ? "legible" : "tokens";
}

// What a person has to know about where the output comes from.
function noteOf({ draft, replaced }: Answer): string {
  if (draft === "growing") return "First draft, word by word. The result of the search will replace it.";
  if (draft === "stopped") return "Stopped. This is the first draft as far as it came, not the result of the search.";
  return replaced && `The search replaced the first draft “${replaced}”.`;
}

function modelOption({ name, job, languages }: ModelInfo) {
  const between = languages?.length ? ` (${languages.join(" → ")})` : "";
  return { value: name, title: name + between, group: job };
}
