// Server-sent events out of pieces of text as the network cuts them.

export interface ServerEvent {
  name: string;
  data: string;
}

export class EventReader {
  #rest = "";
  #name = "";
  #data: string[] = [];

  // The events that this piece completes.
  read(piece: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop()!;
    for (const line of lines) {
      if (line === "") {
        if (this.#data.length) events.push({ name: this.#name || "message", data: this.#data.join("\n") });
        this.#name = "";
        this.#data = [];
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") this.#name = value;
      if (field === "data") this.#data.push(value);
    }
    return events;
  }
}
