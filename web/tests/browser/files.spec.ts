// Traces from files and inside the page itself.
import { writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { sampleTrace } from "../sample";
import { drop, expect, hoverCell, opened, output, screenshot, test, traceFile } from "./fixtures";
import { pageHtml, pagePath } from "./mock_server";

const trace = JSON.stringify(sampleTrace({ layers: 2, heads: 2, beam: true, trust: true, model: "from a file" }));

test("one file is the whole page", () => {
  const html = pageHtml();
  expect(html).not.toMatch(/<script[^>]*\ssrc=|<link[^>]*rel="stylesheet"|@import|url\(/);
  expect(html).toMatch(/<\/body>\s*<\/html>\s*$/); // where heed explain --html puts the trace
  expect(html).not.toMatch(/innerHTML|insertAdjacentHTML|outerHTML|document\.write/);
});

test("without a server the page asks for a trace, and shows one that is dropped", async ({ page }) => {
  await page.goto(pathToFileURL(pagePath).href);
  await expect(page.getByText("There is no model here.")).toBeVisible();
  await screenshot(page, "from-disk");
  await drop(page, "cat.json", trace);
  await expect(output(page)).toContainText("gouvernement");
  await expect(page.getByText("cat.json")).toBeVisible();
  await hoverCell(page, 0, 0, 6, 6);
  await expect(page.locator(".reading-line")).toHaveText(/“le” looks at “the”/);
  await expect(page.getByRole("button", { name: "Edit" })).toBeHidden();
  await expect(page.getByText("Sufficiency")).toBeVisible();
  await page.getByText("Search", { exact: true }).click();
  await expect(page.locator(".twig.chosen").first()).toBeVisible();
});

test("a trace inside the page opens at once, from disk", async ({ page }, info) => {
  const inside = trace.replace(/</g, "\\u003c");
  const script = `<script type="application/json" id="trace">${inside}</script>`;
  const html = pageHtml().replace(/<\/body>\s*<\/html>\s*$/, () => `${script}</body></html>`);
  const file = info.outputPath("explained.html");
  await writeFile(file, html);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  await expect(output(page)).toContainText("gouvernement");
  await expect(page.getByLabel("A text to translate")).toBeHidden();
  expect(asked.filter((url) => !url.startsWith("file:") && !url.startsWith("data:"))).toEqual([]);
});

test("a broken file is refused with its place, and what was there stays", async ({ page, server }) => {
  await opened(page, server);
  await drop(page, "broken.json", '{"format": "heed-trace", "version": 1, "source": 3}');
  await expect(page.getByRole("alert")).toContainText("broken.json cannot be shown. source is not an object");
  await drop(page, "notes.txt", "hello");
  await expect(page.getByRole("alert")).toContainText("notes.txt cannot be shown. The file is not JSON.");
  await expect(output(page)).toContainText("gouvernement");
});

test("two files stand side by side", async ({ page, server }) => {
  await opened(page, server);
  const other = JSON.stringify(sampleTrace({ model: "other", flat: 0.5 }));
  await traceFile(page).setInputFiles([
    { name: "one.json", mimeType: "application/json", buffer: Buffer.from(trace) },
    { name: "two.json", mimeType: "application/json", buffer: Buffer.from(other) },
  ]);
  await expect(page.locator(".pane")).toHaveCount(2);
  await hoverCell(page, 2, 2, 6, 6);
  await expect(page.locator(".row-label.lit")).toHaveCount(2);
});

test("of many traces in one file one is chosen", async ({ page, server }) => {
  await opened(page, server);
  const lines = ["a small cat", "an old house", "the end"].map((text) => JSON.stringify(sampleTrace({}, text, text)));
  await drop(page, "three.jsonl", lines.join("\n"));
  await expect(output(page)).toContainText("a small cat");
  await page.getByLabel("Sentence", { exact: true }).selectOption({ label: "2. an old house" });
  await expect(output(page)).toContainText("an old house");
});
