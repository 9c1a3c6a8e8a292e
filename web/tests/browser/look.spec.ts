// Type, see, point, switch, compare, edit, search, measure, export, share.
import { expect, exported, finished, hoverCell, numberOf, opened, output, screenshot, seen, test } from "./fixtures";

test("a stranger sees an example translated, and one thing to do", async ({ page, server }) => {
  await page.goto(server.url);
  await finished(page);
  await expect(page.getByLabel("A text to translate")).toHaveValue("the old cat sleeps .");
  await expect(page.locator(".matrix canvas")).toBeVisible();
  await expect(page.getByText("Point at a word to see where the model looked.")).toBeVisible();
  await screenshot(page, "first-look");
});

test("a typed sentence grows word by word, with its alignment", async ({ page, server }) => {
  await opened(page, server);
  server.behaviour = { delay: 250 };
  // Every number of words that the output has had, counted in the page itself.
  await output(page).evaluate((group) => {
    const counts: number[] = [];
    Object.assign(window, { counts });
    const count = () => counts.push(group.querySelectorAll("button").length);
    new MutationObserver(count).observe(group, { childList: true });
  });
  await page.getByLabel("A text to translate").fill("one two three four");
  await page.keyboard.press("Enter");
  await expect(output(page)).toContainText("ONE TWO THREE FOUR");
  const counts = await page.evaluate(() => (window as unknown as { counts: number[] }).counts);
  expect(new Set(counts).size).toBeGreaterThan(2);
  await finished(page);
  expect(server.requests.at(-1)).toMatchObject({ text: "one two three four", model: "demo" });
  await expect(page).toHaveURL(/text=one\+two\+three\+four/);
});

test("pointing at a cell marks both words everywhere", async ({ page, server }) => {
  await opened(page, server);
  await hoverCell(page, 1, 1, 6, 6);
  await expect(page.locator(".reading-line")).toHaveText(/“gouvernement” looks at “government” with \d+ %/);
  await expect(page.locator(".row-label.lit")).toHaveText("gouvernement");
  await expect(page.locator(".column-label.lit")).toHaveText("government");
  await expect(output(page).locator(".lit")).toHaveText("gouvernement");
  await expect(page.locator(".step.lit")).toHaveCount(1);
  await screenshot(page, "matrix-hover");
  await page.mouse.move(5, 5);
  await expect(page.locator(".lit")).toHaveCount(0);
});

test("pointing at a word of the output tints the words it looked at", async ({ page, server }) => {
  await opened(page, server);
  await output(page).getByRole("button", { name: "traduit" }).hover();
  await expect(page.locator(".reading-line")).toHaveText(/“traduit” looks at “translates” \d+ %/);
  const tinted = page.getByRole("group", { name: "Input words" }).locator("button[style]");
  await expect(tinted.first()).toBeVisible();
});

test("everything can be pointed at by keyboard", async ({ page, server }) => {
  await opened(page, server);
  await page.getByRole("application", { name: /Attention matrix/ }).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await expect(page.locator(".reading-line")).toHaveText(/“gouvernement” looks at “government” with/);
  await page.keyboard.press("Escape");
  await expect(page.locator(".lit")).toHaveCount(0);
  await output(page).getByRole("button").first().focus();
  await page.keyboard.press("ArrowRight");
  await expect(output(page).locator(".lit")).toHaveText("gouvernement");
  await page.getByText("Lines", { exact: true }).click();
  await page.getByRole("application", { name: /Lines between/ }).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowLeft");
  await expect(page.locator(".reading-line")).toHaveText(/“the” is looked at by “le”/);
});

test("views, levels, layers and heads are switched", async ({ page, server }) => {
  await opened(page, server);
  await page.getByText("Tokens", { exact: true }).click();
  await expect(page.locator(".row-label")).toHaveText([
    "▁le",
    "▁gouv",
    "ernement",
    "▁trad",
    "uit",
    "▁les",
    "▁viei",
    "lles",
    "▁lett",
    "res",
  ]);
  await page.getByLabel("End of sentence").check();
  await expect(page.locator(".row-label").last()).toHaveText("⟨end⟩");
  await page.getByText("Words", { exact: true }).click();
  await page.getByLabel("Attention", { exact: true }).selectOption("decoder.layer2.source");
  await page.getByLabel("Head", { exact: true }).selectOption({ label: "Head 3" });
  await expect(page).toHaveURL(/head=3/);
  await page.getByLabel("Attention", { exact: true }).selectOption({ label: "Rollout: output to input words" });
  await expect(page.getByLabel("Head", { exact: true })).toBeHidden();
  await page.getByText("Lines", { exact: true }).click();
  await expect(page.locator(".lines path").first()).toBeAttached();
  await page.locator(".lines text", { hasText: "gouvernement" }).hover();
  await expect(page.locator(".lines path.lit").first()).toBeAttached();
  await screenshot(page, "lines");
  await page.getByLabel("Attention", { exact: true }).selectOption("decoder.layer1.source");
  await expect(page.locator(".legend")).toHaveText(/head 1.*head 4/);
  await screenshot(page, "lines-all-heads");
});

test("the overview of heads leads to one of them", async ({ page, server }) => {
  await opened(page, server);
  await page.getByText("Heads", { exact: true }).click();
  await expect(page.locator(".thumbnail")).toHaveCount(8);
  await screenshot(page, "heads");
  await page.getByRole("button", { name: "Layer 2, head 3" }).click();
  await expect(page.getByLabel("Head", { exact: true })).toHaveValue("3");
  await expect(page.locator(".matrix canvas")).toBeVisible();
  await hoverCell(page, 1, 1, 6, 6);
  await expect(page.locator(".reading-line")).toHaveText(/“gouvernement” looks at “government” with \d+ %/);
  await screenshot(page, "head-large");
  await page.getByRole("button", { name: "← All heads" }).click();
  await expect(page.locator(".thumbnail")).toHaveCount(8);
});

test("two models, then two mechanisms, stand side by side and are linked", async ({ page, server }) => {
  await opened(page, server);
  await page.getByRole("button", { name: "Compare" }).click();
  await expect(page.locator(".pane")).toHaveCount(2);
  await finished(page);
  await expect(page.locator(".pane").nth(1).getByLabel("Model", { exact: true })).toHaveValue("transformer");
  await hoverCell(page, 1, 1, 6, 6);
  await expect(page.locator(".pane").nth(1).locator(".column-label.lit")).toHaveText("government");
  const tops = await page.locator(".pane .stage").evaluateAll((all) => all.map((e) => e.getBoundingClientRect().top));
  expect(tops[0]).toBe(tops[1]);
  await screenshot(page, "compare");
  await page.locator(".pane").nth(1).getByLabel("Model", { exact: true }).selectOption("demo");
  await page.locator(".pane").nth(1).getByLabel("Normaliser", { exact: true }).selectOption("sparsemax");
  await expect.poll(() => server.requests.at(-1)).toMatchObject({ model: "demo", normaliser: "sparsemax" });
  await finished(page);
  await page.reload();
  await expect(page.locator(".pane").nth(1).getByLabel("Normaliser", { exact: true })).toHaveValue("sparsemax");
  await page.getByRole("button", { name: "Compare" }).click();
  await expect(page.locator(".pane")).toHaveCount(1);
});

test("an edited output is forced on the model, and taken back", async ({ page, server }) => {
  await opened(page, server);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("The output that the model is made to write").fill("une autre traduction");
  await page.keyboard.press("Enter");
  await expect(output(page)).toContainText("une autre traduction");
  expect(server.requests.at(-1)).toMatchObject({ target: "une autre traduction" });
  await expect(page.locator(".row-label")).toHaveText(["une", "autre", "traduction"]);
  await page.getByRole("button", { name: "Back to the model's own" }).click();
  await expect(output(page)).toContainText("gouvernement");
});

test("the search shows what it weighed up at each step", async ({ page, server }) => {
  await opened(page, server);
  await page.getByText("Search", { exact: true }).click();
  await page.getByRole("button", { name: "Show the search" }).click();
  await expect(page.getByRole("columnheader", { name: "Step 1", exact: true })).toBeVisible();
  expect(server.requests.at(-1)).toMatchObject({ alternatives: true });
  await expect(page.locator(".twig.chosen").first()).toContainText("le");
  await expect(page.locator(".twig").nth(1)).toContainText("90 %");
  await screenshot(page, "search");
});

test("the tests of trust are run on demand and said in words", async ({ page, server }) => {
  await opened(page, server);
  await page.getByRole("button", { name: "Run the tests" }).click();
  await expect(page.getByText("Comprehensiveness")).toBeVisible();
  await expect(page.getByText("0.60 (0.30 in random order)")).toBeVisible();
  await expect(page.getByText(/falls by 60 percentage points/)).toBeVisible();
  expect(server.requests.at(-1)).toMatchObject({ trust: true });
  await screenshot(page, "trust");
});

test("pictures and traces are exported", async ({ page, server }) => {
  await opened(page, server);
  const svg = (await exported(page, "Picture as SVG")).toString();
  expect(svg).toMatch(/^<svg xmlns=/);
  expect(svg.match(/<rect x=/g)).toHaveLength(36);
  const png = await exported(page, "Picture as PNG");
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  expect(png.length).toBeGreaterThan(2000);
  const trace = JSON.parse((await exported(page, "Trace as JSON")).toString());
  expect(trace).toMatchObject({ format: "heed-trace", version: 1, model: "demo" });
});

for (const [scheme, paper] of [
  ["light", "#ffffff"],
  ["dark", "#161b21"],
] as const) {
  test(`heads and search are exported as they are shown, in ${scheme} colours`, async ({ page, server }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await opened(page, server);
    await page.getByText("Heads", { exact: true }).click();
    await page.getByLabel("Show", { exact: true }).selectOption("Input looks at input");
    const heads = (await exported(page, "Picture as SVG")).toString();
    expect(heads).toContain(">Input looks at input</text>");
    expect(heads.match(/(?<=<title>)Layer \d, head \d/g)).toHaveLength(8);
    expect(heads).toContain(`fill="${paper}"/>`);
    const small = await seen(page, await exported(page, "Picture as PNG"));
    expect(small).toMatchObject({ width: 2 * numberOf(heads, "width"), height: 2 * numberOf(heads, "height") });
    expect(small.colours).toBeGreaterThan(50);

    await page.getByText("Search", { exact: true }).click();
    await page.locator(".menu summary").click();
    await expect(page.getByRole("button", { name: "Picture as SVG" })).toBeDisabled(); // there is none yet
    await page.locator(".menu summary").click();
    await page.getByRole("button", { name: "Show the search" }).click();
    await expect(page.locator(".twig").first()).toBeVisible();
    const search = (await exported(page, "Picture as SVG")).toString();
    expect(search.match(/<rect x=/g)).toHaveLength(await page.locator(".twig").count());
    for (const text of await page.locator(".twig .token").allTextContents())
      expect(search).toContain(`>${text}</text>`);
    expect(search).toContain(`fill="${paper}"/>`);
    const tree = await seen(page, await exported(page, "Picture as PNG"));
    expect(tree).toMatchObject({ width: 2 * numberOf(search, "width"), height: 2 * numberOf(search, "height") });
    expect(tree.colours).toBeGreaterThan(20);
    const trace = JSON.parse((await exported(page, "Trace as JSON")).toString());
    expect(trace.beam[0]).toHaveLength(3);
  });
}

test("the link brings the same picture back", async ({ page, server, context }) => {
  await opened(page, server);
  await page.getByText("Lines", { exact: true }).click();
  await page.getByText("Tokens", { exact: true }).click();
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect(page.getByText("Copied")).toBeVisible();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await context.newPage();
  await other.goto(link);
  await finished(other);
  await expect(other.locator(".lines text", { hasText: "▁gouv" })).toBeVisible();
});
