import { describe, expect, it } from "vitest";
import { choicesIn, defaults, fromHash, type Settings, toHash } from "../../src/logic/settings";

describe("the link", () => {
  it("is empty for a page as it opens", () => {
    expect(toHash(defaults)).toBe("");
    expect(fromHash("")).toEqual(defaults);
  });

  it("brings everything back", () => {
    const settings: Settings = {
      texts: ["a & b = “ç” 日本 👩🏽‍🚀 #%", "", "three"],
      choices: ["the barn", "a|b & c"],
      forced: "",
      view: "lines",
      level: "tokens",
      keepEnd: true,
      sides: [
        { model: "demo", normaliser: "", choice: { attention: "decoder.layer2.source", head: 3 } },
        { model: "other one", normaliser: "sparsemax", choice: { attention: "alignment", head: -1 } },
      ],
    };
    expect(fromHash(toHash(settings))).toEqual(settings);
  });

  it("has choices as they are typed, one per line or with bars between", () => {
    expect(choicesIn(" the barn \n\ntower | lamp|\r\n")).toEqual(["the barn", "tower", "lamp"]);
    expect(choicesIn(" \n")).toEqual([]);
    expect(fromHash("#choice=a&choice=b").choices).toEqual(["a", "b"]);
  });

  it.each(["#view=nonsense&head=-7&level=%ZZ", "#head=1e9x", "#=&&&", "#compare=yes"])("survives %s", (hash) => {
    const settings = fromHash(hash);
    expect(settings.view).toBe("matrix");
    expect(settings.sides).toHaveLength(1);
    expect(settings.sides[0]!.choice.head).toBe(0);
  });
});
