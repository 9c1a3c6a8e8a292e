import { readFile } from "node:fs/promises";
import AxeBuilder from "@axe-core/playwright";
import { expect, type Locator, type Page, test as plain } from "@playwright/test";
import { type MockServer, startServer } from "./mock_server";

// A mock server of its own for each test, and no test passes with an error on the page's console.
export const test = plain.extend<{ server: MockServer; noErrors: undefined }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the pattern
  server: async ({}, use) => {
    const server = await startServer();
    await use(server);
    await server.close();
  },
  noErrors: [
    async ({ page }, use) => {
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(String(error)));
      page.on("console", (message) => {
        if (/Content Security Policy/.test(message.text())) errors.push(message.text());
      });
      await use(undefined);
      expect(errors).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

export const sentence = "the government translates the old letters";

// Opens the page with a sentence and waits for the result of the search.
export async function opened(page: Page, server: MockServer, settings = "") {
  await page.goto(`${server.url}#text=${encodeURIComponent(sentence)}${settings}`);
  await finished(page);
}

export function translate(page: Page): Locator {
  return page.getByRole("button", { name: "Translate", exact: true });
}

// There while something is asked for.
export function stop(page: Page): Locator {
  return page.getByRole("button", { name: "Stop" });
}

export async function finished(page: Page) {
  await expect(page.locator(".composer .primary")).toBeVisible();
  await expect(page.locator(".pane-texts").first()).toBeVisible();
  await expect(stop(page)).toBeHidden();
}

export function output(page: Page, side = 0): Locator {
  return page.locator(".pane").nth(side).getByRole("group", { name: "Output words" });
}

// Where traces are opened.
export function traceFile(page: Page): Locator {
  return page.locator("header input[type=file]");
}

export async function drop(page: Page, name: string, content: string) {
  const data = await page.evaluateHandle(
    ([file, text]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text!], file!, { type: "application/json" }));
      return transfer;
    },
    [name, content],
  );
  await page.dispatchEvent("body", "dragenter", { dataTransfer: data });
  await expect(page.getByText("Drop the file to look at it")).toBeVisible();
  await page.dispatchEvent("body", "drop", { dataTransfer: data });
}

export async function screenshot(page: Page, name: string) {
  await page.screenshot({ path: `screenshots/${name}.png`, fullPage: true });
}

// Points at the middle of a cell of the matrix.
export async function hoverCell(page: Page, row: number, column: number, rows: number, columns: number, side = 0) {
  const canvas = page.locator(".pane").nth(side).locator(".matrix canvas");
  const box = (await canvas.boundingBox())!;
  const position = { x: ((column + 0.5) * box.width) / columns, y: ((row + 0.5) * box.height) / rows };
  await canvas.hover({ position, force: true });
}

// Nothing on the page keeps assistive technology out.
export async function accessible(page: Page) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
  expect(serious.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join("; ")}`)).toEqual([]);
}

// The file that a click on Export gives.
export async function exported(page: Page, title: string): Promise<Buffer> {
  await page.locator(".menu summary").click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: title }).click();
  return readFile(await (await download).path());
}

// A number that an SVG says of itself.
export const numberOf = (svg: string, name: string) => Number(svg.match(new RegExp(` ${name}="(\\d+)"`))![1]);

// Width, height and the different colours of a picture, as the browser reads it.
export function seen(page: Page, png: Buffer) {
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d")!;
    context.drawImage(image, 0, 0);
    const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
    return { width: image.width, height: image.height, colours: new Set(pixels).size };
  }, png.toString("base64"));
}
