// One side: what one model did with the sentence, in the chosen view, with everything beside it.
import type { App, State } from "../app";
import { element, Select } from "../dom";
import { exportJson, exportPicture } from "../export";
import { type HighlightSignal, markOf, nothing, placeOf, placesOf } from "../highlight";
import {
  attentionOptions,
  type Choice,
  headCount,
  headPictures,
  maxHead,
  meanHead,
  type Picture,
  picture,
  possibleChoice,
} from "../logic/picture";
import { reading } from "../logic/reading";
import type { Side, Trace } from "../logic/trace";
import { BeamView } from "./beam";
import { HeadRanking } from "./head_ranking";
import { HeadsView } from "./heads";
import { LinesView } from "./lines";
import { MatrixView } from "./matrix";
import { EntropyView, ReadingView, TrustView } from "./measures";
import { OutputEditor } from "./output_editor";
import { SentencesView } from "./sentences";
import type { StageView } from "./view";

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
  readonly #heads: HeadsView;
  readonly #beam = new BeamView();
  readonly #entropy: EntropyView;
  readonly #trust = new TrustView();
  readonly #text = new ReadingView();
  readonly #aside: HTMLElement;
  readonly #body: HTMLElement;
  readonly #exportPictures: HTMLButtonElement[];
  readonly #menu: HTMLDetailsElement;
  #picture: Picture | null = null;
  #trace: Trace | null = null;
  #staged: { view: StageView; trace: Trace } | null = null; // what the export takes
  #drawn = ""; // what the picture was made from, besides the trace
  #drawnFrom: Trace | null = null;

  constructor(app: App, signal: HighlightSignal, side: number) {
    this.#app = app;
    this.#side = side;
    this.#signal = signal;
    const point = (row: number | null, column: number | null) => this.#point(row, column);
    this.#matrix = new MatrixView(point);
    this.#lines = new LinesView(point);
    const chooseHead = (choice: Choice) => {
      app.choose(side, choice);
      if (app.state.settings.view !== "lines") app.set({ view: "matrix" });
    };
    this.#heads = new HeadsView(chooseHead);
    this.#ranking = new HeadRanking(chooseHead);
    this.#entropy = new EntropyView((row) => point(row, null));
    this.#editor = new OutputEditor(app);
    this.#sentences = new SentencesView((which, label) => {
      this.#pointWord(which, label ? { begin: label.begin, end: label.end } : null);
    }, this.#editor.root);
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
    this.#body = element(
      "div",
      {},
      this.#sentences.root,
      this.#reading,
      element("div", { class: "pane-body" }, element("div", {}, this.#stage, this.#text.root), this.#aside),
    );
    this.root = element("section", { class: "pane" }, controls, this.#ranking.root, this.#body);
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
    this.#title.textContent = name ? `Model ${name}` : "Translation";
    // Where the model can be chosen, the choice says its name.
    this.#title.classList.toggle("unseen", state.opened.length === 0 && state.models.length > 1);
    this.root.classList.toggle("asking", answer?.asking === "translation" && !answer.growing);
    this.root.setAttribute("aria-busy", String(answer?.asking != null));
    this.#body.hidden = !trace;
    this.#menu.hidden = !trace || answer!.growing;
    this.#ranking.root.hidden = this.#menu.hidden;
    if (!trace || !answer) return;

    const { level, keepEnd, view } = state.settings;
    const choice = answer.growing ? side.choice : possibleChoice(trace, side.choice);
    if (!answer.growing) this.#ranking.show(trace, choice, state.opened, state.picked[this.#side] ?? 0);
    const drawn = JSON.stringify([level, keepEnd, choice, view, state.theme, this.#stage.clientWidth]);
    if (trace !== this.#drawnFrom || drawn !== this.#drawn) {
      this.#drawnFrom = trace;
      this.#drawn = drawn;
      this.#picture = picture(trace, choice, level, keepEnd);
      this.#lines.heads =
        view === "lines" && choice.head === meanHead ? headPictures(trace, choice, level, keepEnd) : [];
      this.#sentences.show(trace, this.#picture, level, keepEnd, answer.growing, state.theme);
      if (this.#picture) {
        this.#entropy.show(this.#picture);
        this.#text.show(this.#picture);
      }
      this.#showStage(state);
      this.#highlight();
    } else if (view === "heads" || view === "beam") {
      this.#showStage(state);
    }
    this.#entropy.root.hidden = !this.#picture;
    this.#text.root.hidden = !this.#picture;
    const ready = state.server === "ready" && state.opened.length === 0 && !answer.growing;
    const measure = ready && trace.alignment ? () => void this.#app.more(this.#side, "trust") : null;
    this.#trust.show(trace.trust, answer.asking === "trust", measure);
    this.#editor.show(trace, ready, state.settings.forced !== null);
    // Heads and search are not about one picture.
    const several = view === "heads" || view === "beam";
    if (several) this.#text.root.hidden = true;
    this.#aside.hidden = several || (this.#entropy.root.hidden && this.#trust.root.hidden);
    for (const each of this.#exportPictures) each.disabled = !this.#staged;
  }

  #showControls(state: State) {
    const served = state.opened.length === 0;
    const side = state.settings.sides[this.#side]!;
    const models = served ? state.models.map((m) => ({ value: m.name, title: m.name })) : [];
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
      { value: String(meanHead), title: "Mean of heads" },
      { value: String(maxHead), title: "Largest of heads" },
    ];
    this.#head.show(heads > 1 ? [...several, ...each] : [], String(choice.head));
  }

  #showStage(state: State) {
    const { view } = state.settings;
    const answer = state.answers[this.#side]!;
    const trace = this.#trace!;
    const asked = state.server === "ready" && state.opened.length === 0;
    this.#staged = null;
    const shows = (shown: StageView, of: Trace) => {
      this.#staged = { view: shown, trace: of };
      if (this.#stage.firstChild !== shown.root) this.#stage.replaceChildren(shown.root);
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
      const searched = trace.beam.length ? trace : answer.beam;
      if (searched?.beam.length) {
        this.#beam.show(searched);
        shows(this.#beam, searched);
      } else if (asked && !answer.growing && state.settings.forced === null) {
        offer("A beam search keeps several beginnings alive and weighs them up.", "beam", "Search with a beam of 5");
      } else {
        const why =
          state.settings.forced === null ? "This trace has no beam search." : "A given output is not searched.";
        says(why);
      }
      return;
    }
    if (view === "heads") {
      if (trace.attentions.length) {
        this.#heads.show(trace, state.theme);
        shows(this.#heads, trace);
      } else if (asked && !answer.growing && this.#app.model(this.#side)?.attentions?.length) {
        offer("All heads of this model for this sentence are many numbers.", "heads", "Fetch all heads");
      } else {
        says("There are no layers and heads to choose from here.");
      }
      return;
    }
    if (!this.#picture) {
      const why = answer.growing
        ? "The first word is coming…"
        : "This model has no attention: it reads the whole sentence into one vector, so there is nothing to see.";
      says(why);
      return;
    }
    const chosen = view === "lines" ? this.#lines : this.#matrix;
    shows(chosen, trace);
    chosen.show(this.#picture, state.theme, this.#stage.clientWidth || 600);
  }

  #redraw() {
    if (this.#app.state.settings.sides[this.#side]) this.show(this.#app.state);
  }

  #texts(): Record<Side, string> {
    return { source: this.#trace?.source.text ?? "", target: this.#trace?.target.text ?? "" };
  }

  #point(row: number | null, column: number | null) {
    const shown = this.#picture;
    if (!shown) return;
    const texts = this.#texts();
    this.#signal.set({
      row: row === null ? null : markOf(shown.rows[row], shown.rowSide, texts[shown.rowSide]),
      column: column === null ? null : markOf(shown.columns[column], shown.columnSide, texts[shown.columnSide]),
    });
  }

  // A word of a sentence is what looks if the picture has it as a row, otherwise what is looked at.
  #pointWord(side: Side, span: { begin: number; end: number } | null) {
    const shown = this.#picture;
    if (!shown || !span) {
      this.#signal.set(nothing);
      return;
    }
    const text = this.#texts()[side];
    const mark = { side, text, ...span };
    if (placeOf(mark, shown.rows, shown.rowSide, text) !== null) this.#signal.set({ row: mark, column: null });
    else this.#signal.set({ row: null, column: mark });
  }

  #highlight() {
    if (!this.#picture || !this.#trace) return;
    const { row, column } = placesOf(this.#signal.value, this.#picture, this.#texts());
    const { view } = this.#app.state.settings;
    if (view === "matrix") this.#matrix.highlight(row, column);
    if (view === "lines") this.#lines.highlight(row, column);
    this.#sentences.highlight(row, column);
    this.#entropy.highlight(row);
    const said = reading(this.#picture, row, column);
    this.#reading.textContent = said || "Point at a word to see where the model looked.";
    this.#reading.classList.toggle("hint", !said);
  }

  #export(kind: "svg" | "png") {
    if (!this.#staged) return;
    const { settings, theme } = this.#app.state;
    void exportPicture(kind, settings.view, this.#staged.view, this.#staged.trace, theme);
    this.#menu.open = false;
  }

  // A search may be a trace of its own.
  #exportTrace() {
    const trace = this.#staged?.trace ?? this.#trace;
    if (trace) exportJson(trace);
    this.#menu.open = false;
  }
}
