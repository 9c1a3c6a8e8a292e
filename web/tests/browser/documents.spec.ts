// What a label looked at: documents sentence by sentence, the heads of a label, pairs of texts.
import type { Page } from "@playwright/test";
import { entailmentTrace, hierarchicalTrace, longReview, review } from "../sample";
import { accessible, expect, exported, finished, numberOf, screenshot, seen, test, traceFile } from "./fixtures";

const lines = (page: Page) => page.locator(".sentence-line");
const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

for (const scheme of ["light", "dark"] as const) {
  test(`a document stands sentence by sentence behind bars, in ${scheme} colours`, async ({ page, server }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(`${server.url}#model=sentences`);
    await finished(page);
    await expect(lines(page)).toHaveText([/^33 %The room was .* loud\.$/, /^67 %But the .* kind\.$/]);
    const bars = await page
      .locator(".share-bar")
      .evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width));
    expect(bars[1]! / bars[0]!).toBeCloseTo(2, 1);
    await page.getByRole("button", { name: "wonderful," }).hover();
    await expect(page.locator(".reading-line")).toHaveText(
      "“positive” looks at “wonderful,” with 29 %: sentence 2 has 67 % of the attention, this word 44 % of that",
    );
    await page.getByRole("button", { name: "loud." }).focus();
    await expect(page.locator(".reading-line")).toContainText(
      "sentence 1 has 33 % of the attention, this word 46 % of that",
    );
    await page.keyboard.press("ArrowRight"); // on to the next sentence
    await expect(page.locator(".highlighted .lit")).toHaveText("But");
    await accessible(page);
    await screenshot(page, `document-sentences-${scheme}`);
    await page.getByLabel("End of sentence").check();
    await expect(lines(page).last()).toHaveText("⟨end⟩");
    await page.getByLabel("End of sentence").uncheck();

    const svg = (await exported(page, "Picture as SVG")).toString();
    for (const text of ["positive", "33 %", "67 %", "wonderful,"]) expect(svg).toContain(`>${text}</text>`);
    const png = await seen(page, await exported(page, "Picture as PNG"));
    expect(png).toMatchObject({ width: 2 * numberOf(svg, "width"), height: 2 * numberOf(svg, "height") });
    expect(png.colours).toBeGreaterThan(20);
    const trace = JSON.parse((await exported(page, "Trace as JSON")).toString());
    expect(trace.axes[0].sentence_ends).toEqual([9, 22]);
  });
}

test("a document of 2,000 words scrolls in its card, and a hover changes few elements", async ({ page, server }) => {
  await page.goto(`${server.url}#model=sentences`);
  await finished(page);
  const long = JSON.stringify(hierarchicalTrace(longReview(2000)));
  await traceFile(page).setInputFiles({ name: "long.json", mimeType: "application/json", buffer: Buffer.from(long) });
  await expect(lines(page)).toHaveCount(88);
  const sizes = await page
    .locator(".highlighted")
    .evaluate((text) => ({ seen: text.clientHeight, whole: text.scrollHeight, window: window.innerHeight }));
  expect(sizes.seen).toBeLessThan(sizes.window);
  expect(sizes.whole).toBeGreaterThan(2 * sizes.seen);
  await page.locator(".highlighted .word", { hasText: /^w3$/ }).hover();
  await expect(page.locator(".highlighted .lit")).toHaveText("w3");
  await page.evaluate(() => {
    const counted = { changes: 0 };
    Object.assign(window, { counted });
    new MutationObserver((list) => {
      counted.changes += list.length;
    }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  });
  await page.locator(".highlighted .word", { hasText: /^wonderful$/ }).hover();
  await expect(page.locator(".highlighted .lit")).toHaveText("wonderful");
  const changes = await page.evaluate(() => (window as unknown as { counted: { changes: number } }).counted.changes);
  expect(changes).toBeGreaterThan(1);
  expect(changes).toBeLessThan(40); // words on the way there were pointed at too
  await screenshot(page, "document-long");
  // For the report; nothing depends on it.
  const times = await page.evaluate(() => {
    const words = Array.from(document.querySelectorAll(".highlighted .word"));
    const spent = words.slice(0, 200).map((word) => {
      const began = performance.now();
      word.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
      void document.body.offsetHeight; // styles and layout belong to the answer
      return performance.now() - began;
    });
    return spent.sort((a, b) => a - b)[100]!;
  });
  console.log(`hover over a document of 2,000 words: median ${times.toFixed(2)} ms`);
});

test("the heads of a label are small texts that open", async ({ page, server }) => {
  await page.goto(`${server.url}#model=rows`);
  await finished(page);
  await expect(page.locator(".highlighted")).toHaveText(review, { useInnerText: true }); // not cut into sentences
  await page.getByText("Heads", { exact: true }).click();
  const heads = page.locator(".text-head");
  await expect(heads).toHaveCount(6);
  await expect(heads.locator("strong")).toHaveText(["Mean of all heads", ...[1, 2, 3, 4, 5].map((h) => `Head ${h}`)]);
  await expect(heads.first()).toContainText("The room was small");
  await expect(page.getByText("Rank heads by alignment")).toBeHidden(); // a label is no word to be linked
  await accessible(page);
  await screenshot(page, "label-heads");
  const svg = (await exported(page, "Picture as SVG")).toString();
  expect(svg.match(/>Head \d<\/text>/g)).toHaveLength(5);
  const png = await seen(page, await exported(page, "Picture as PNG"));
  expect(png).toMatchObject({ width: 2 * numberOf(svg, "width"), height: 2 * numberOf(svg, "height") });
  expect(png.colours).toBeGreaterThan(20);
  await page.getByRole("button", { name: "Head 3", exact: true }).click();
  await expect(page.getByLabel("Head", { exact: true })).toHaveValue("3");
  await expect(page.locator(".highlighted")).toHaveCount(1);
  await expect(page.locator(".words")).toHaveCount(0); // the text is there once
  await page.locator(".highlighted .word", { hasText: "breakfast" }).hover();
  await expect(page.locator(".reading-line")).toContainText("“positive” looks at “breakfast” with");
  await screenshot(page, "label-head-large");
  await page.getByRole("button", { name: "← All heads" }).click();
  await page.getByText("Tokens", { exact: true }).click();
  await expect(heads).toHaveCount(6);
  await page.setViewportSize({ width: 375, height: 740 });
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  await screenshot(page, "phone-label-heads-dark");
});

test("Enter goes from the premise to a hypothesis that is missing, then asks", async ({ page, server }) => {
  await page.goto(`${server.url}#model=pairs`);
  await finished(page);
  const [premise, hypothesis] = [
    page.getByLabel("Premise", { exact: true }),
    page.getByLabel("Hypothesis", { exact: true }),
  ];
  await expect(hypothesis).toHaveValue("someone makes music"); // the example fills both
  const asked = server.requests.length;
  await hypothesis.fill("");
  await premise.fill("two dogs run");
  await page.keyboard.press("Enter");
  await expect(hypothesis).toBeFocused();
  expect(server.requests).toHaveLength(asked);
  await page.keyboard.type("animals move");
  await page.keyboard.press("Enter");
  await expect(page.locator(".row-label")).toHaveText(["animals", "move"]);
  expect(server.requests.at(-1)).toMatchObject({ inputs: { premise: "two dogs run", hypothesis: "animals move" } });
  await expect(page.locator(".column-label")).toHaveText(["two", "dogs", "run"]);
  const svg = (await exported(page, "Picture as SVG")).toString();
  expect(svg).toContain(">Each row is a word of the hypothesis, each column a word of the premise.</text>");
});

test("the labels of a pair stand beside its texts, on a phone above them", async ({ page, server }) => {
  await page.goto(`${server.url}#model=pairs`);
  await finished(page);
  await page
    .getByLabel("Hypothesis", { exact: true })
    .fill("there is no man outdoors and there is no loud music at all");
  await page.keyboard.press("Enter");
  await expect(page.locator(".row-label")).toHaveCount(13);
  const beyond = await page.locator("aside").evaluate((aside) => aside.scrollWidth - aside.clientWidth);
  expect(beyond).toBeLessThanOrEqual(0);
  await screenshot(page, "pair-long");
  const box = async (name: string) => (await page.locator(name).first().boundingBox())!;
  expect((await box(".labels")).x).toBeGreaterThan((await box(".words")).x + (await box(".words")).width - 1);
  await page.setViewportSize({ width: 375, height: 740 });
  await expect.poll(async () => (await box(".labels")).y).toBeLessThan((await box(".words")).y);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  await screenshot(page, "phone-pair");
  await page.getByLabel("Model", { exact: true }).selectOption("sentences");
  await expect(lines(page)).toHaveCount(2);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  await screenshot(page, "phone-document");
});

test("a label that looks at one of two texts has that text in colours, under its name", async ({ page, server }) => {
  await page.goto(`${server.url}#model=pairs`);
  await finished(page);
  const pair = entailmentTrace();
  const trace = JSON.stringify({ ...pair, alignment: [pair.alignment[0]], alignment_rows: "label", attentions: [] });
  await traceFile(page).setInputFiles({ name: "pair.json", mimeType: "application/json", buffer: Buffer.from(trace) });
  await expect(page.locator(".text-view h3")).toHaveText("Premise");
  await expect(page.locator(".highlighted .word")).toHaveText("a man plays a guitar on stage".split(" "));
  await expect(page.locator(".sentence h3")).toHaveText("Hypothesis");
  await screenshot(page, "job-pair-label");
});

test("a pair without attention has its labels, its texts and a word about that", async ({ page, server }) => {
  await page.goto(`${server.url}#model=conditional`);
  await finished(page);
  await expect(page.locator(".label-headline")).toContainText("entailment 70 %");
  await expect(page.getByRole("list", { name: "Probability of each label" }).getByRole("listitem")).toHaveCount(3);
  await expect(page.getByText("This model has no attention")).toBeVisible();
  await expect(page.getByRole("group", { name: "Premise words" })).toBeVisible();
  await expect(page.getByRole("group", { name: "Hypothesis words" })).toBeVisible();
  await expect(page.getByRole("group", { name: "View", exact: true })).toBeHidden();
  await expect(page.getByRole("button", { name: "Run the tests" })).toBeHidden();
  await page.locator(".menu summary").click();
  await expect(page.getByRole("button", { name: "Picture as SVG" })).toBeDisabled();
  await accessible(page);
  await screenshot(page, "job-pair-without-attention");
});
