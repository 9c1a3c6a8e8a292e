// The sound that is being heard. There is one on the page, so that two sides that are about the same sound follow it
// together.
export class Playback {
  readonly #audio = new Audio();
  readonly #listeners: (() => void)[] = [];
  #source = "";

  constructor() {
    for (const event of ["play", "pause", "ended", "seeked", "error"]) {
      this.#audio.addEventListener(event, () => this.#tell());
    }
  }

  // Listeners hear of every frame of the screen while it plays.
  listen(listener: () => void) {
    this.#listeners.push(listener);
  }

  #tell() {
    for (const listener of this.#listeners) listener();
    if (!this.#audio.paused) requestAnimationFrame(() => this.#tell());
  }

  plays(source: string): boolean {
    return this.#source === source && !this.#audio.paused;
  }

  // Where it is; null for another sound than the one that was played last.
  seconds(source: string): number | null {
    return source && this.#source === source ? this.#audio.currentTime : null;
  }

  // False where the browser cannot play it.
  async toggle(source: string): Promise<boolean> {
    this.#take(source);
    if (!this.#audio.paused) {
      this.#audio.pause();
      return true;
    }
    try {
      await this.#audio.play();
      return true;
    } catch (error) {
      return (error as Error).name === "AbortError"; // it was paused before it began
    }
  }

  seek(source: string, seconds: number) {
    this.#take(source);
    this.#audio.currentTime = seconds;
    this.#tell();
  }

  #take(source: string) {
    if (this.#source === source) return;
    this.#source = source;
    this.#audio.src = source;
  }
}
