// What a person chose, as the part of the address after '#': a link shares it.
import { type Choice, maxHead, theAlignment, type View, views } from "./picture";

// One of the models or mechanisms that stand side by side.
export interface Side {
  model: string; // empty: the server's first
  normaliser: string; // empty: as trained
  choice: Choice;
}

export interface Settings {
  texts: readonly string[]; // one for each input of the model; empty for an image or a sound
  choices: readonly string[]; // what can be answered; empty: whatever the model chooses from by itself
  forced: string | null; // an output that the model is made to give
  view: View;
  level: "words" | "tokens";
  keepEnd: boolean;
  sides: readonly Side[]; // one, or two beside each other
}

export const firstSide: Side = { model: "", normaliser: "", choice: theAlignment };

export const defaults: Settings = {
  texts: [],
  choices: [],
  forced: null,
  view: "matrix",
  level: "words",
  keepEnd: false,
  sides: [firstSide],
};

// Choices as a person types them: one per line, or with | between.
export function choicesIn(text: string): string[] {
  return text
    .split(/[\n|]/)
    .map((choice) => choice.trim())
    .filter(Boolean);
}

function writeSide(to: URLSearchParams, side: Side, mark: string) {
  if (side.model) to.set(`model${mark}`, side.model);
  if (side.normaliser) to.set(`normaliser${mark}`, side.normaliser);
  if (side.choice.attention !== theAlignment.attention) to.set(`attention${mark}`, side.choice.attention);
  if (side.choice.head) to.set(`head${mark}`, String(side.choice.head));
}

function readSide(from: URLSearchParams, mark: string): Side {
  const head = Number(from.get(`head${mark}`) ?? 0);
  return {
    model: from.get(`model${mark}`) ?? "",
    normaliser: from.get(`normaliser${mark}`) ?? "",
    choice: {
      attention: from.get(`attention${mark}`) || theAlignment.attention,
      head: Number.isInteger(head) && head >= maxHead ? head : 0,
    },
  };
}

export function toHash(settings: Settings): string {
  const to = new URLSearchParams();
  for (const text of settings.texts) to.append("text", text);
  for (const choice of settings.choices) to.append("choice", choice);
  if (settings.forced !== null) to.set("forced", settings.forced);
  if (settings.view !== defaults.view) to.set("view", settings.view);
  if (settings.level !== defaults.level) to.set("level", settings.level);
  if (settings.keepEnd) to.set("end", "shown");
  writeSide(to, settings.sides[0]!, "");
  if (settings.sides[1]) {
    to.set("compare", "1");
    writeSide(to, settings.sides[1], "2");
  }
  const written = to.toString();
  return written && `#${written}`;
}

// Anything a person may have typed: what is unknown is left at its default.
export function fromHash(hash: string): Settings {
  const from = new URLSearchParams(hash.replace(/^#/, ""));
  const view = views.find((v) => v === from.get("view")) ?? defaults.view;
  const sides = [readSide(from, "")];
  if (from.get("compare") === "1") sides.push(readSide(from, "2"));
  return {
    texts: from.getAll("text"),
    choices: from.getAll("choice"),
    forced: from.get("forced"),
    view,
    level: from.get("level") === "tokens" ? "tokens" : "words",
    keepEnd: from.get("end") === "shown",
    sides,
  };
}
