// Heads by how well they agree with a person's links between words.
import type { Page } from "@playwright/test";
import { sampleTrace } from "../sample";
import { drop, expect, finished, opened, output, test } from "./fixtures";

const diagonal = "0-0 1-1 2-2 3-3 4-4 5-5";
const summary = (page: Page) => page.getByText("Rank heads by alignment");
const links = (page: Page) => page.getByLabel("Which words belong together");
const heads = (page: Page) => page.getByRole("list", { name: "Heads by alignment error" }).getByRole("button");

test("heads are ranked by given links, by keyboard, and the best is picked", async ({ page, server }) => {
  await opened(page, server);
  await page.getByLabel("Attention", { exact: true }).selectOption("decoder.layer2.source");
  await page.getByLabel("Head", { exact: true }).selectOption({ label: "Head 4" });
  await summary(page).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect(links(page)).toBeFocused();
  await page.keyboard.type(diagonal);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status")).toContainText("Alignment error (AER) of 8 heads");
  await expect(heads(page)).toHaveCount(8);
  const errors = (await heads(page).allTextContents()).map((text) => Number(text.match(/\d\.\d\d$/)![0]));
  expect(errors).toEqual([...errors].sort((a, b) => a - b));
  // Its “les” looks between two words, and most at the wrong one: 5 links of 6.
  await expect(heads(page).first()).toHaveText("Layer 1, head 1 0.17");
  await expect(heads(page).and(page.locator("[aria-pressed=true]"))).toHaveText(/Layer 2, head 4/);
  await heads(page).first().focus();
  await page.keyboard.press("Enter");
  await expect(heads(page).first()).toBeFocused();
  await expect(heads(page).first()).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByLabel("Attention", { exact: true })).toHaveValue("decoder.layer1.source");
  await expect(page.getByLabel("Head", { exact: true })).toHaveValue("1");
  await expect(page.locator(".matrix canvas")).toBeVisible();

  await links(page).fill("0-0 6-1");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status")).toContainText("“6-1” links words that are not there: the input has 6");
  await expect(links(page)).toHaveAttribute("aria-invalid", "true");
  await expect(heads(page)).toHaveCount(0);
});

test("links are of one sentence: another one has none, a file has a line for each trace", async ({ page, server }) => {
  await opened(page, server);
  await summary(page).click();
  await links(page).fill(diagonal);
  await page.keyboard.press("Enter");
  await expect(heads(page)).toHaveCount(8);
  await page.getByLabel("A text to translate").fill("one two");
  await page.keyboard.press("Enter");
  await finished(page);
  await expect(output(page)).toContainText("ONE TWO");
  await expect(links(page)).toHaveValue("");
  await expect(heads(page)).toHaveCount(0);

  const traces = ["a small cat", "an old house"].map((text) => sampleTrace({ layers: 2, heads: 2 }, text, text));
  await drop(page, "two.jsonl", traces.map((trace) => JSON.stringify(trace)).join("\n"));
  await expect(page.getByText("two.jsonl")).toBeVisible();
  const file = (text: string) => ({ name: "gold.align", mimeType: "text/plain", buffer: Buffer.from(text) });
  await page.getByLabel("or a file").setInputFiles(file("0-0\n1-1\n2-2\n"));
  await expect(page.getByRole("status")).toHaveText("gold.align has 3 lines of links for 2 sentences.");
  await page.getByLabel("or a file").setInputFiles(file("0-0 1-1 2-2\n1-0 2-1\n"));
  await expect(heads(page).first()).toHaveText("Layer 1, head 1 0.00");
  await page.getByLabel("Sentence", { exact: true }).selectOption({ label: "2. an old house" });
  await expect(links(page)).toHaveValue("1-0 2-1");
  await expect(heads(page).first()).toHaveText(/^Layer 1, head 2/);
});

test("a trace with nothing to choose from has no ranking", async ({ page, server }) => {
  await opened(page, server);
  await expect(summary(page)).toBeVisible();
  await drop(page, "plain.json", JSON.stringify(sampleTrace()));
  await expect(page.getByText("plain.json")).toBeVisible();
  await expect(summary(page)).toBeHidden();
});
