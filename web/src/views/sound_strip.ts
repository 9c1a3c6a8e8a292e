// A sound along its time: waveform, spectrogram, what was said when, and a cursor that follows while it plays.
import { drawing, element } from "../dom";
import { clock, momentOfPlace, placeOfMoment, saidAt, secondsOf, waveformPath } from "../logic/sound";
import type { Said, SoundAxis } from "../logic/trace";
import type { Playback } from "../playback";

const waveHeight = 48;

export class SoundStrip {
  readonly root: HTMLElement; // stands above the cells, as wide as they are
  readonly cursor = element("div", { class: "cursor", hidden: true, "aria-hidden": "true" });
  readonly #playback: Playback;
  readonly #play: HTMLButtonElement;
  readonly #clock = element("span", { class: "clock" });
  readonly #controls: HTMLElement;
  readonly #path = drawing("path");
  readonly #wave: SVGSVGElement;
  readonly #spectrogram = element("img", { class: "spectrogram", alt: "Spectrogram of the sound", draggable: "false" });
  readonly #names = element("div", { class: "said-row", role: "list", "aria-label": "What was said when" });
  readonly #line: HTMLElement;
  #axis: SoundAxis | null = null;
  #source = "";
  #said: Said[] = [];
  #left = 0;
  #width = 0;

  constructor(playback: Playback) {
    this.#playback = playback;
    this.#play = element("button", { type: "button", class: "quiet", on: { click: () => void this.#toggle() } });
    this.#controls = element("div", { class: "player" }, this.#play, this.#clock);
    this.#wave = drawing("svg", { class: "waveform", role: "img", "aria-label": "Waveform of the sound" }, this.#path);
    this.#wave.setAttribute("preserveAspectRatio", "none");
    this.#line = element("div", { class: "sound-line" });
    this.#line.append(this.#wave, this.#spectrogram, this.#names);
    this.#line.addEventListener("click", (event) => this.#seek(event));
    this.root = element("div", { class: "sound-strip" }, this.#controls, this.#line);
    playback.listen(() => this.#follow());
  }

  // `source`: an address to play, or empty. `left` and `width` are those of the cells below.
  show(axis: SoundAxis, said: Said[], source: string, left: number, width: number) {
    this.#axis = axis;
    this.#source = source;
    this.#said = said;
    this.#left = left;
    this.#width = width;
    this.#controls.hidden = source === "";
    this.#line.classList.toggle("seekable", source !== "");
    this.#line.style.marginLeft = `${left}px`;
    this.#line.style.width = `${width}px`;
    this.#wave.toggleAttribute("hidden", axis.waveform.length === 0);
    this.#wave.setAttribute("viewBox", `0 0 ${axis.waveform.length} ${waveHeight}`);
    this.#path.setAttribute("d", waveformPath(axis.waveform, axis.waveform.length, waveHeight));
    this.#spectrogram.hidden = axis.preview === "";
    if (axis.preview && this.#spectrogram.src !== axis.preview) this.#spectrogram.src = axis.preview;
    this.#names.hidden = said.length === 0;
    const at = (seconds: number) => 100 * placeOfMoment(seconds, axis);
    this.#names.replaceChildren(
      ...said.map(({ text, begin, end }) => {
        const title = `${text}: ${begin.toFixed(2)}–${end.toFixed(2)} s`;
        const name = element("span", { role: "listitem", class: "said", dir: "auto", title }, text);
        name.style.left = `${at(begin)}%`;
        name.style.width = `${at(end) - at(begin)}%`;
        return name;
      }),
    );
    this.cursor.style.top = `${this.#line.offsetTop}px`;
    this.#follow();
  }

  async #toggle() {
    if (await this.#playback.toggle(this.#source)) return;
    this.#clock.textContent = "This browser cannot play the sound.";
  }

  #seek(event: MouseEvent) {
    if (!this.#source || !this.#axis) return;
    const box = this.#line.getBoundingClientRect();
    this.#playback.seek(this.#source, momentOfPlace((event.clientX - box.left) / box.width, this.#axis));
  }

  #follow() {
    if (!this.#axis) return;
    const seconds = this.#playback.seconds(this.#source);
    const playing = this.#playback.plays(this.#source);
    const word = playing ? "Pause" : "Play";
    if (this.#play.textContent !== word) this.#play.textContent = word;
    const time = `${clock(seconds ?? 0, true)} of ${clock(secondsOf(this.#axis), true)}`;
    if (this.#clock.textContent !== time) this.#clock.textContent = time;
    this.cursor.hidden = seconds === null;
    const now = seconds === null ? -1 : saidAt(this.#said, seconds);
    Array.from(this.#names.children, (name, i) => name.classList.toggle("now", i === now));
    if (seconds === null) return;
    const x = this.#left + placeOfMoment(seconds, this.#axis) * this.#width;
    this.cursor.style.transform = `translateX(${x}px)`;
  }
}
