// The heads by how well they align words, judged by a person's links for the sentence that is shown.
import { element } from "../dom";
import { aligningHeads, headsByError, LinkError, type RankedHead, readLinks } from "../logic/alignment_error";
import type { Choice } from "../logic/picture";
import { type Trace, textOf } from "../logic/trace";

export class HeadRanking {
  static #made = 0;
  readonly root: HTMLDetailsElement;
  readonly #links: HTMLInputElement;
  readonly #file: HTMLInputElement;
  readonly #said: HTMLElement;
  readonly #list = element("ol", { "aria-label": "Heads by alignment error", hidden: true });
  readonly #choose: (choice: Choice) => void;
  #buttons: { choice: Choice; button: HTMLButtonElement }[] = [];
  #trace: Trace | null = null;
  #chosen: Choice | null = null;
  #among: readonly unknown[] = []; // the traces of the opened files, if it is one of them
  #place = 0; // of the trace among them
  #lines: string[] = []; // of a file of links, one for each of them

  constructor(choose: (choice: Choice) => void) {
    const id = `links-${++HeadRanking.#made}`;
    this.#choose = choose;
    this.#said = element("p", { id: `${id}-said`, class: "note", role: "status" });
    this.#links = element("input", {
      id,
      type: "text",
      placeholder: "0-0 1-1 2p1",
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": `${id}-form ${id}-said`,
    });
    this.#file = element("input", {
      id: `${id}-file`,
      type: "file",
      on: { change: () => void this.#read() },
    });
    const submit = (event: Event) => {
      event.preventDefault();
      this.#lines = [];
      this.#rank();
    };
    this.root = element(
      "details",
      { class: "ranking" },
      element("summary", {}, "Rank heads by alignment"),
      element(
        "form",
        { on: { submit } },
        element("label", { for: id }, "Which words belong together"),
        this.#links,
        element("button", { type: "submit", class: "quiet" }, "Rank"),
        element("label", { for: `${id}-file` }, "or a file"),
        this.#file,
      ),
      element(
        "p",
        { id: `${id}-form`, class: "note" },
        "Write pairs of input word and output word, both counted from 0: 2-1 is a sure link, 2p1 a possible one.",
      ),
      this.#said,
      this.#list,
    );
  }

  // Where the trace is one of several from files, it is number `place` among them. Hidden where there is no choice of
  // heads.
  show(trace: Trace, chosen: Choice, among: readonly unknown[], place: number) {
    this.root.hidden = aligningHeads(trace) < 2;
    this.#chosen = chosen;
    if (trace === this.#trace) {
      this.#mark();
      return;
    }
    const before = this.#trace;
    if (among !== this.#among) this.#lines = [];
    this.#trace = trace;
    this.#among = among;
    this.#place = place;
    // Links are of one pair of sentences.
    const texts = (of: Trace | null) => of && JSON.stringify(of.axes.map(textOf));
    const same = texts(trace) === texts(before);
    if (this.#lines.length) this.#links.value = this.#lines[place]!;
    else if (!same) this.#links.value = "";
    this.#rank();
  }

  #mark() {
    for (const { choice, button } of this.#buttons) {
      const chosen = choice.attention === this.#chosen?.attention && choice.head === this.#chosen.head;
      button.setAttribute("aria-pressed", String(chosen));
    }
  }

  // A file has one line, or one for each of the traces.
  async #read() {
    const file = this.#file.files?.[0];
    if (!file) return;
    const lines = (await file.text()).replace(/\r?\n$/, "").split(/\r?\n/);
    this.#file.value = "";
    const traces = Math.max(1, this.#among.length);
    if (lines.length !== 1 && lines.length !== traces) {
      const sentences = traces === 1 ? "one sentence" : `${traces} sentences`;
      this.#show([], `${file.name} has ${lines.length} lines of links for ${sentences}.`);
      return;
    }
    this.#lines = lines.length > 1 ? lines : [];
    this.#links.value = lines[lines.length > 1 ? this.#place : 0]!;
    this.#rank();
  }

  #rank() {
    const trace = this.#trace;
    if (!trace || this.root.hidden || !this.#links.value.trim()) {
      this.#show([], "");
      return;
    }
    try {
      const heads = headsByError(trace, readLinks(this.#links.value, trace));
      this.#show(heads, `Alignment error (AER) of ${heads.length} heads: 0 agrees with all links, 1 with none.`);
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      this.#show([], error.message, true);
    }
  }

  #show(heads: RankedHead[], said: string, faulty = false) {
    this.#said.textContent = said;
    this.#links.setAttribute("aria-invalid", String(faulty));
    this.#buttons = heads.map(({ choice, title, error }) => {
      const click = () => this.#choose(choice);
      const value = element("span", { class: "number" }, error.toFixed(2));
      return {
        choice,
        button: element("button", { type: "button", class: "quiet toggle", on: { click } }, title, " ", value),
      };
    });
    this.#list.hidden = heads.length === 0;
    this.#list.replaceChildren(...this.#buttons.map(({ button }) => element("li", {}, button)));
    this.#mark();
  }
}
