import type { Theme } from "../logic/colour";
import type { Picture } from "../logic/picture";

// Says which row and column a person points at.
export type Point = (row: number | null, column: number | null) => void;

// What can stand on the stage of a side. `svg` gives what is shown there as a file.
export interface StageView {
  readonly root: HTMLElement;
  svg(title: string, theme: Theme): string;
}

// One way of drawing a picture. `show` draws it; `highlight` marks a row and a column of what was drawn last.
export interface PictureView extends StageView {
  show(picture: Picture, theme: Theme, available: number): void;
  highlight(row: number | null, column: number | null): void;
}
