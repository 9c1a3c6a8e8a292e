// What a person gives to the model: one field for each of its inputs, and the button that asks.
import type { App, GivenFile, State } from "../app";
import { type InputInfo, isWritten, type ModelInfo } from "../client";
import { element } from "../dom";
import { capital } from "../logic/picture";
import { choicesIn } from "../logic/settings";
import { clock } from "../logic/sound";
import { longestRecording, Recording } from "../recorder";

const articles = { text: "A text", document: "A document", image: "An image", sound: "A sound" };

interface Field {
  readonly root: HTMLElement;
  readonly text: string; // what was typed; empty for a file
  readonly given: boolean;
  focus(): void;
  show(text: string, file: GivenFile | undefined): void;
}

class TextField implements Field {
  readonly root: HTMLElement;
  readonly #area: HTMLTextAreaElement;
  #shown: string | null = null;

  constructor(id: string, label: string, kind: "text" | "document" | "choices", submit: () => void) {
    this.#area = element("textarea", {
      id,
      rows: { text: 2, document: 8, choices: 3 }[kind],
      class: kind,
      dir: "auto",
      spellcheck: "false",
      on: {
        keydown: (event) => {
          // Documents and choices have lines of their own.
          const sends = event.key === "Enter" && (kind === "text" ? !event.shiftKey : event.ctrlKey);
          if (!sends || event.isComposing) return;
          event.preventDefault();
          submit();
        },
      },
    });
    this.root = element("div", { class: "input-field" }, element("label", { for: id }, label), this.#area);
  }

  get text() {
    return this.#area.value;
  }

  get given() {
    return this.text.trim() !== "";
  }

  focus() {
    this.#area.focus();
  }

  // What a person is typing is only replaced when another text is shown.
  show(text: string) {
    if (text !== this.#shown && text !== this.#area.value.trim()) this.#area.value = text;
    this.#shown = text;
  }
}

class FileField implements Field {
  readonly root: HTMLElement;
  readonly text = "";
  readonly #file: HTMLInputElement;
  readonly #thumbnail = element("img", { class: "given-image", alt: "The image that was given", hidden: true });
  readonly #name = element("span", { class: "note" });
  #shown: GivenFile | undefined;

  constructor(
    id: string,
    label: string,
    kind: "image" | "sound",
    give: (file: File) => void,
    complain: (message: string) => void,
  ) {
    this.#file = element("input", {
      id,
      type: "file",
      class: "unseen",
      accept: kind === "image" ? "image/*" : "audio/*",
      on: {
        change: () => {
          const file = this.#file.files?.[0];
          if (file) give(file);
          this.#file.value = "";
        },
      },
    });
    const choose = element("label", { for: id, class: "button" }, "Choose a file");
    const record = kind === "sound" && new RecordButton(give, complain).root;
    const chosen = element("div", { class: "given-file" }, this.#thumbnail, this.#file, choose, record, this.#name);
    this.root = element("div", { class: "input-field" }, element("label", { for: id }, label), chosen);
    this.show("", undefined);
  }

  get given() {
    return this.#shown !== undefined;
  }

  focus() {
    this.#file.focus();
  }

  show(_text: string, file: GivenFile | undefined) {
    const isImage = file?.type.startsWith("image/") ?? false;
    if (file !== this.#shown && isImage) this.#thumbnail.src = `data:${file!.type};base64,${file!.base64}`;
    this.#shown = file;
    this.#thumbnail.hidden = !isImage;
    this.#name.textContent = file ? file.name : "Or drop or paste one on the page.";
  }
}

// A button that records from the microphone until it is pressed again.
class RecordButton {
  readonly root = element("button", { type: "button", class: "quiet record", on: { click: () => void this.#press() } });
  readonly #give: (file: File) => void;
  readonly #complain: (message: string) => void;
  #recording: Recording | null = null;
  #waiting = false; // for the browser to ask, or for the recording to become a file

  constructor(give: (file: File) => void, complain: (message: string) => void) {
    this.#give = give;
    this.#complain = complain;
    this.#show();
  }

  #show() {
    const recording = this.#recording;
    this.root.textContent = recording ? `Stop recording (${clock(recording.seconds)})` : "Record";
    this.root.disabled = this.#waiting;
    this.root.classList.toggle("recording", recording !== null);
    if (!recording) return;
    if (recording.seconds >= longestRecording) void this.#press();
    else setTimeout(() => this.#show(), 200);
  }

  async #press() {
    if (this.#waiting) return;
    const recording = this.#recording;
    this.#waiting = true;
    this.#recording = null;
    this.#show();
    try {
      if (recording) this.#give(await recording.end());
      else this.#recording = await Recording.begin();
    } catch (error) {
      this.#complain((error as Error).message);
    }
    this.#waiting = false;
    this.#show();
  }
}

async function read(file: File): Promise<GivenFile> {
  const address = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  return { name: file.name, type: file.type, base64: address.slice(address.indexOf(",") + 1) };
}

export class Composer {
  readonly root: HTMLFormElement;
  readonly #app: App;
  readonly #inputs = element("div", { class: "inputs" });
  readonly #go = element("button", { type: "submit", class: "primary" });
  readonly #stop: HTMLButtonElement;
  #fields: Field[] = [];
  #choices: TextField | undefined; // of a model that chooses from what it is given
  #model: ModelInfo | undefined;

  constructor(app: App) {
    this.#app = app;
    this.#stop = element("button", { type: "button", on: { click: () => app.stop() } }, "Stop");
    const submit = (event: Event) => {
      event.preventDefault();
      const missing = this.#fields.find((field) => !field.given);
      if (missing) missing.focus();
      else app.run(this.#texts(), choicesIn(this.#choices?.text ?? ""));
    };
    this.root = element(
      "form",
      { class: "composer", on: { submit } },
      this.#inputs,
      element("div", { class: "composer-buttons" }, this.#go, this.#stop),
    );
  }

  #texts(): string[] {
    return this.#fields.map((field) => field.text);
  }

  show(state: State) {
    const model = this.#app.model(0);
    this.root.hidden = state.server === "none" || !model;
    if (!model) return;
    const fields = ({ inputs, verb, output }: ModelInfo) => JSON.stringify([inputs, verb, output.kind]);
    if (!this.#model || fields(model) !== fields(this.#model)) {
      this.#fields = model.inputs.map((input, i) => this.#make(model, input, i));
      this.#choices = model.output.kind === "choice" ? this.#makeChoices(model) : undefined;
      this.#inputs.replaceChildren(...this.#fields.map((field) => field.root));
      if (this.#choices) this.#inputs.append(this.#choices.root);
    }
    this.#model = model;
    this.#fields.forEach((field, i) => {
      // A trace from a file says nothing about the fields.
      if (state.opened.length === 0) field.show(state.settings.texts[i] ?? "", state.files[i]);
    });
    if (state.opened.length === 0) this.#choices?.show(state.settings.choices.join("\n"));
    this.#go.textContent = capital(model.verb);
    this.#stop.hidden = !state.answers.some((answer) => answer.asking);
  }

  #makeChoices(model: ModelInfo): TextField {
    const label = `Choices, one per line (without any: every word of the ${model.inputs[0]!.name})`;
    return new TextField("choices", label, "choices", () => this.root.requestSubmit());
  }

  #make(model: ModelInfo, input: InputInfo, i: number): Field {
    const id = `input-${i}`;
    const alone = model.inputs.length === 1;
    const label = alone ? `${articles[input.kind]} to ${model.verb}` : capital(input.name);
    if (input.kind === "text" || input.kind === "document") {
      return new TextField(id, label, input.kind, () => this.root.requestSubmit());
    }
    const complain = (message: string) => this.#app.complain(message);
    return new FileField(id, label, input.kind, (file) => void this.#give(i, file), complain);
  }

  async #give(input: number, file: File) {
    this.#app.give(input, await read(file), this.#texts());
  }

  // Takes a file that was dropped or pasted on the page, if an input of the model is of its kind.
  take(file: File): boolean {
    const kinds = { image: "image", audio: "sound" } as Record<string, string>;
    const kind = kinds[file.type.split("/")[0]!];
    const place = (this.#model?.inputs ?? []).findIndex((input) => !isWritten(input) && input.kind === kind);
    if (place < 0 || this.root.hidden) return false;
    void this.#give(place, file);
    return true;
  }
}
