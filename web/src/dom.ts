// Elements from code. Text only ever becomes a text node, so nothing in it can run.
import { moved } from "./logic/layout";

type Child = Node | string | null | undefined | false;
type Listeners = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };

interface Props {
  class?: string;
  on?: Listeners;
  [attribute: string]: string | number | boolean | undefined | Listeners;
}

function apply(to: Element, props: Props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value as Listeners)) {
        to.addEventListener(event, listener as EventListener);
      }
    } else {
      to.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const result = document.createElement(tag);
  apply(result, props);
  result.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return result;
}

export function drawing<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const result = document.createElementNS("http://www.w3.org/2000/svg", tag);
  apply(result, props);
  result.append(...children);
  return result;
}

export interface SelectOption {
  value: string;
  title: string;
  group?: string;
}

// A labelled select whose options can be replaced; `choose` hears what a person picks.
export class Select {
  static #count = 0;
  readonly field: HTMLElement;
  readonly #select: HTMLSelectElement;
  #shown = "";

  constructor(label: string, choose: (value: string) => void) {
    const id = `select-${++Select.#count}`;
    this.#select = element("select", { id, on: { change: () => choose(this.#select.value) } });
    this.field = element("span", { class: "field" }, element("label", { for: id }, label), this.#select);
  }

  // Hidden where there is nothing to choose.
  show(options: SelectOption[], value: string, least = 2) {
    this.field.hidden = options.length < least;
    const key = JSON.stringify(options);
    if (key !== this.#shown) {
      this.#shown = key;
      const groups = new Map<string, HTMLOptGroupElement>();
      this.#select.replaceChildren();
      for (const option of options) {
        let parent: HTMLElement = this.#select;
        if (option.group) {
          const known = groups.get(option.group) ?? element("optgroup", { label: option.group });
          groups.set(option.group, known);
          this.#select.append(known);
          parent = known;
        }
        parent.append(element("option", { value: option.value }, option.title));
      }
    }
    this.#select.value = value;
  }
}

// Of buttons in a row one is reached by Tab, the others from it by arrow keys.
export function moveByArrows(within: HTMLElement, buttons: () => HTMLElement[]) {
  within.addEventListener("keydown", (event) => {
    const all = buttons();
    const from = all.indexOf((event.target as Element).closest("button")!);
    const backwards = getComputedStyle(within).direction === "rtl";
    const turned: Record<string, string> = { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };
    const key = backwards ? (turned[event.key] ?? event.key) : event.key;
    const to = moved({ row: 0, column: from }, key, 1, all.length);
    if (from < 0 || !to || to.column === from) return;
    event.preventDefault();
    all.forEach((button, i) => {
      button.tabIndex = i === to.column ? 0 : -1;
    });
    all[to.column]?.focus();
  });
}

const ruler = document.createElement("canvas").getContext("2d")!;

export function textWidth(text: string, size = 14): number {
  ruler.font = `${size}px system-ui, sans-serif`;
  return ruler.measureText(text).width;
}
