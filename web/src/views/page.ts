// The page around the sides: what is given to the model, the switches, the messages.
import type { App, State } from "../app";
import { element, Select } from "../dom";
import type { HighlightSignal } from "../highlight";
import { possibleChoice, possibleView, type View, viewsOf } from "../logic/picture";
import { textOf } from "../logic/trace";
import { Playback } from "../playback";
import { Composer } from "./composer";
import { Pane } from "./pane";

// Buttons of which one is chosen.
class Choices<T extends string> {
  readonly root: HTMLFieldSetElement;
  readonly #inputs: HTMLInputElement[];

  constructor(name: string, title: string, options: [T, string][], choose: (value: T) => void) {
    this.#inputs = options.map(([value]) =>
      element("input", { type: "radio", name, value, on: { change: () => choose(value) } }),
    );
    this.root = element(
      "fieldset",
      { class: "choices" },
      element("legend", { class: "unseen" }, title),
      ...options.map(([, text], i) => element("label", {}, this.#inputs[i], element("span", {}, text))),
    );
  }

  show(value: T, possible: readonly string[] | null = null) {
    for (const input of this.#inputs) {
      input.checked = input.value === value;
      input.parentElement!.hidden = possible !== null && !possible.includes(input.value);
    }
  }
}

export class Page {
  readonly #app: App;
  readonly #signal: HighlightSignal;
  readonly #playback = new Playback();
  readonly #composer: Composer;
  readonly #file: HTMLInputElement;
  readonly #fileName = element("p");
  readonly #sentence: Select;
  readonly #opened: HTMLElement;
  readonly #theme: HTMLButtonElement;
  readonly #notice = element("div", { class: "notice", role: "alert", hidden: true });
  readonly #token: HTMLFormElement;
  readonly #toolbar: HTMLElement;
  readonly #view: Choices<View>;
  readonly #level: Choices<"words" | "tokens">;
  readonly #end: HTMLInputElement;
  readonly #compare: HTMLButtonElement;
  readonly #share: HTMLButtonElement;
  readonly #welcome: HTMLElement;
  readonly #sides = element("div", { class: "sides" });
  readonly #panes: Pane[] = [];

  constructor(app: App, signal: HighlightSignal, switchTheme: () => void) {
    this.#app = app;
    this.#signal = signal;
    this.#composer = new Composer(app);
    this.#file = element("input", {
      type: "file",
      accept: ".json,application/json",
      multiple: true,
      class: "unseen",
      tabindex: -1,
      "aria-hidden": "true",
      on: { change: () => void this.#openFiles(this.#file.files) },
    });
    const open = (title: string, name: string) =>
      element("button", { type: "button", class: name, on: { click: () => this.#file.click() } }, title);
    this.#theme = element("button", { type: "button", class: "quiet icon", on: { click: switchTheme } });
    this.#sentence = new Select("Sentence", (place) => app.pick([Number(place)]));
    this.#opened = element("div", { class: "opened" }, this.#fileName, this.#sentence.field);
    this.#token = this.#tokenForm();
    this.#view = new Choices(
      "view",
      "View",
      [
        ["matrix", "Matrix"],
        ["lines", "Lines"],
        ["picture", "Picture"],
        ["text", "Text"],
        ["heads", "Heads"],
        ["beam", "Search"],
      ],
      (view) => app.set({ view }),
    );
    this.#level = new Choices(
      "level",
      "Level",
      [
        ["words", "Words"],
        ["tokens", "Tokens"],
      ],
      (level) => app.set({ level }),
    );
    this.#end = element("input", { type: "checkbox", on: { change: () => app.set({ keepEnd: this.#end.checked }) } });
    this.#compare = element(
      "button",
      {
        type: "button",
        class: "quiet toggle",
        on: { click: () => app.compare(app.state.settings.sides.length === 1) },
      },
      "Compare",
    );
    this.#share = element(
      "button",
      { type: "button", class: "quiet", on: { click: () => void this.#copyLink() } },
      "Copy link",
    );
    this.#toolbar = element(
      "div",
      { class: "toolbar", role: "group", "aria-label": "What is shown" },
      this.#view.root,
      this.#level.root,
      element("label", { class: "check" }, this.#end, "End of sentence"),
      element("span", { class: "space" }),
      this.#compare,
      this.#share,
    );
    this.#welcome = element(
      "div",
      { class: "welcome" },
      element("p", {}, "This page shows where a model looked while it made its output."),
      element(
        "p",
        { class: "note" },
        "There is no model here. Open a trace that heed explain wrote, or drop one on the page.",
      ),
      open("Open a trace", "primary"),
    );
    document.body.append(
      element(
        "header",
        {},
        element("h1", {}, "Heed"),
        element("p", { class: "tagline" }, "See where a model looks"),
        open("Open a trace", "quiet"),
        this.#theme,
        this.#file,
      ),
      element(
        "main",
        {},
        this.#composer.root,
        this.#opened,
        this.#notice,
        this.#token,
        this.#welcome,
        this.#toolbar,
        this.#sides,
      ),
      element(
        "footer",
        {},
        element("p", {}, "Attention shows where a model looked. It does not prove why it gave this output."),
      ),
      element("div", { class: "drop", "aria-hidden": "true" }, "Drop the file to look at it"),
    );
    this.#listenForFiles();
    this.#listenForPaste();
  }

  #tokenForm(): HTMLFormElement {
    const input = element("input", { type: "password", id: "token", autocomplete: "off" });
    const submit = (event: Event) => {
      event.preventDefault();
      this.#app.useToken(input.value);
      input.value = "";
      form.hidden = true; // at once: while the server is asked, there is nothing that a second token could be for
    };
    const form = element(
      "form",
      { class: "token", hidden: true, on: { submit } },
      element("label", { for: "token" }, "API token"),
      input,
      element("button", { type: "submit", class: "primary" }, "Continue"),
      element("p", { class: "note" }, "The page keeps the token until you close it and stores it nowhere else."),
    );
    return form;
  }

  #listenForFiles() {
    let depth = 0;
    const over = (by: number) => {
      depth = Math.max(0, depth + by);
      document.body.classList.toggle("dropping", depth > 0);
    };
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    document.addEventListener("dragenter", (event) => hasFiles(event) && over(1));
    document.addEventListener("dragleave", (event) => hasFiles(event) && over(-1));
    document.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
    document.addEventListener("drop", (event) => {
      over(-depth);
      if (!hasFiles(event)) return;
      event.preventDefault();
      const { files } = event.dataTransfer!;
      if (files.length !== 1 || !this.#composer.take(files[0]!)) void this.#openFiles(files);
    });
  }

  // A picture of the clipboard, such as a screenshot; a text that is pasted goes where it always goes.
  #listenForPaste() {
    document.addEventListener("paste", (event) => {
      const [file, ...others] = event.clipboardData?.files ?? [];
      if (file && others.length === 0 && this.#composer.take(file)) event.preventDefault();
    });
  }

  async #openFiles(files: FileList | null) {
    if (!files?.length) return;
    const read = Array.from(files, async (file) => ({ name: file.name, json: await file.text() }));
    this.#app.open(await Promise.all(read));
    this.#file.value = "";
  }

  async #copyLink() {
    try {
      await navigator.clipboard.writeText(window.location.href);
      this.#share.textContent = "Copied";
    } catch {
      this.#share.textContent = "Copy it from the address bar";
    }
    setTimeout(() => {
      this.#share.textContent = "Copy link";
    }, 2000);
  }

  show(state: State) {
    const { settings } = state;
    document.documentElement.dataset.theme = state.theme;
    this.#theme.textContent = state.theme === "dark" ? "☀" : "☾";
    this.#theme.setAttribute("aria-label", state.theme === "dark" ? "Light colours" : "Dark colours");

    const traced = state.answers.some((a) => a.trace);
    this.#composer.show(state);
    this.#showOpened(state);
    this.#welcome.hidden = state.server !== "none" || traced;
    this.#showProblem(state);
    this.#token.hidden = !state.wantsToken;

    this.#toolbar.hidden = !traced;
    this.#showViews(state);
    this.#level.show(settings.level);
    this.#end.checked = settings.keepEnd;
    const two = settings.sides.length > 1;
    const others = this.#app.modelsFor(1).length > 1 || this.#app.normalisers(0).length > 0;
    this.#compare.hidden = (state.opened.length > 0 || !others) && !two;
    this.#compare.setAttribute("aria-pressed", String(two));
    this.#share.hidden = state.opened.length > 0;

    settings.sides.forEach((_, i) => {
      this.#panes[i] ??= new Pane(this.#app, this.#signal, this.#playback, i);
    });
    const shown = this.#panes.slice(0, settings.sides.length).map((p) => p.root);
    if (this.#sides.childElementCount !== shown.length) this.#sides.replaceChildren(...shown);
    this.#sides.classList.toggle("two", two);
    this.#sides.hidden = !traced && (state.server !== "ready" || state.models.length === 0);
    for (const pane of this.#panes.slice(0, settings.sides.length)) pane.show(state);
  }

  // The views that the first side's picture can have.
  #showViews({ answers, settings }: State) {
    const trace = answers.find((answer) => answer.trace)?.trace;
    if (!trace) return;
    const choice = possibleChoice(trace, settings.sides[0]!.choice);
    const possible = viewsOf(trace, choice);
    this.#view.root.hidden = possible.length < 2;
    this.#view.show(possibleView(trace, choice, settings.view), possible);
  }

  // Names of the files, and of several traces a choice.
  #showOpened({ opened, picked }: State) {
    this.#opened.hidden = opened.length === 0;
    this.#fileName.textContent = picked.map((i) => opened[i]!.name).join(" and ");
    const many = opened.length > picked.length ? opened : [];
    const titles = many.map(({ trace }, i) => ({
      value: String(i),
      title: `${i + 1}. ${(trace.axes.map(textOf).find(Boolean) ?? "").slice(0, 60)}`,
    }));
    this.#sentence.show(titles, String(picked[0] ?? 0));
  }

  #showProblem({ problem }: State) {
    this.#notice.hidden = !problem;
    if (!problem || this.#notice.dataset.shown === problem.message) {
      if (!problem) delete this.#notice.dataset.shown;
      return;
    }
    this.#notice.dataset.shown = problem.message;
    const again = () => this.#app.state.problem?.retry?.();
    const close = () => this.#app.dismiss();
    this.#notice.replaceChildren(
      element("p", {}, problem.message),
      element("button", { type: "button", class: "quiet", hidden: !problem.retry, on: { click: again } }, "Try again"),
      element(
        "button",
        { type: "button", class: "quiet icon", "aria-label": "Close this message", on: { click: close } },
        "×",
      ),
    );
  }
}
