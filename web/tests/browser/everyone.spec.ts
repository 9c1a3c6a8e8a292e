// Small screens, dark colours, assistive technology, large traces.
import { writeFile } from "node:fs/promises";
import { sampleTrace } from "../sample";
import { accessible, expect, finished, hoverCell, opened, output, screenshot, test, traceFile } from "./fixtures";

for (const scheme of ["light", "dark"] as const) {
  test(`every view passes the accessibility check in ${scheme} colours`, async ({ page, server }) => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await opened(page, server);
    await page.getByRole("button", { name: "Run the tests" }).click();
    await expect(page.getByText("Comprehensiveness")).toBeVisible();
    await page.getByText("Read it as text").click();
    await output(page).getByRole("button").first().hover();
    await accessible(page);
    await screenshot(page, `matrix-${scheme}`);
    await page.getByText("Rank heads by alignment").click();
    await page.getByLabel("Which words belong together").fill("0-0 1-1 2-2 3-3 4-4 5-5");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /^Layer 1, head 1/ }).click();
    await accessible(page);
    await screenshot(page, `ranking-${scheme}`);
    await page.getByLabel("Which words belong together").fill("0-0 9-9");
    await page.keyboard.press("Enter");
    await accessible(page);
    await page.getByText("Rank heads by alignment").click();
    await page.getByText("Lines", { exact: true }).click();
    await accessible(page);
    await page.getByText("Heads", { exact: true }).click();
    await accessible(page);
    await screenshot(page, `heads-${scheme}`);
    await page.getByText("Search", { exact: true }).click();
    await page.getByRole("button", { name: "Show the search" }).click();
    await expect(page.locator(".twig").first()).toBeVisible();
    await accessible(page);
    await screenshot(page, `search-${scheme}`);
    await page.getByRole("button", { name: "Compare" }).click();
    await page.locator(".menu summary").first().click();
    await accessible(page);
  });
}

test("colours follow the system until they are switched", async ({ page, server }) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: "light" });
  await opened(page, server);
  const light = await ground();
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(ground).not.toBe(light);
  await page.getByRole("button", { name: "Light colours" }).click();
  await expect.poll(ground).toBe(light);
});

test("a phone shows everything without sideways scrolling", async ({ page, server }) => {
  await page.setViewportSize({ width: 375, height: 740 });
  await opened(page, server);
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  for (const view of ["Lines", "Heads", "Search", "Matrix"]) {
    await page.getByText(view, { exact: true }).click();
    expect(await overflow(), view).toBeLessThanOrEqual(0);
    await screenshot(page, `phone-${view.toLowerCase()}`);
  }
  await output(page).getByRole("button", { name: "traduit" }).click();
  await expect(page.locator(".reading-line")).toContainText("“traduit” looks at");
  await page.emulateMedia({ colorScheme: "dark" });
  await screenshot(page, "phone-dark");
  await page.getByRole("button", { name: "Compare" }).click();
  await finished(page);
  expect(await overflow()).toBeLessThanOrEqual(0);
});

test("nothing moves for those who asked for that", async ({ page, server }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  server.behaviour = { delay: 100 };
  await page.goto(server.url);
  const word = page.locator(".words.growing .word.new").first();
  await expect(word).toBeVisible();
  expect(await word.evaluate((e) => getComputedStyle(e).animationName)).toBe("none");
});

// Counts the work, which does not depend on the machine: a hover paints nothing on any canvas and changes few elements.
test("a 100 × 100 matrix is drawn in few strokes, and a hover redraws none of it", async ({ page, server }) => {
  await page.addInitScript(() => {
    const counts = { strokes: 0 };
    Object.assign(window, { counts });
    for (const kind of [CanvasRenderingContext2D, OffscreenCanvasRenderingContext2D]) {
      for (const name of ["fillRect", "drawImage", "putImageData", "fillText", "stroke", "fill"] as const) {
        const proto = kind.prototype as unknown as Record<string, (...a: unknown[]) => unknown>;
        const plain = proto[name]!;
        proto[name] = function (this: unknown, ...of: unknown[]) {
          ++counts.strokes;
          return plain.apply(this, of);
        };
      }
    }
  });
  const strokes = () => page.evaluate(() => (window as unknown as { counts: { strokes: number } }).counts.strokes);
  const large = JSON.stringify(sampleTrace({ words: 100 }));
  await opened(page, server);
  const before = await strokes();
  await traceFile(page).setInputFiles({ name: "100.json", mimeType: "application/json", buffer: Buffer.from(large) });
  await expect(page.locator(".row-label")).toHaveCount(100);
  expect((await strokes()) - before).toBeLessThanOrEqual(4);
  await hoverCell(page, 10, 10, 100, 100);
  await expect(page.locator(".row-label.lit")).toHaveText("xw10");
  const drawn = await strokes();
  await page.evaluate(() => {
    const seen = { changes: 0 };
    Object.assign(window, { seen });
    new MutationObserver((list) => {
      seen.changes += list.length;
    }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  });
  await hoverCell(page, 60, 61, 100, 100);
  await expect(page.locator(".row-label.lit")).toHaveText("xw60");
  expect(await strokes()).toBe(drawn);
  const changes = await page.evaluate(() => (window as unknown as { seen: { changes: number } }).seen.changes);
  expect(changes).toBeGreaterThan(4);
  expect(changes).toBeLessThan(120);
  // For the report; nothing depends on it.
  const times = await page.evaluate(async () => {
    const area = document.querySelector(".matrix")!;
    const box = document.querySelector(".matrix canvas")!.getBoundingClientRect();
    const spent: number[] = [];
    for (let i = 0; i < 200; ++i) {
      const at = {
        clientX: box.x + (box.width * ((i * 37) % 100)) / 100 + 1,
        clientY: box.y + (box.height * i) / 200 + 1,
      };
      const began = performance.now();
      area.dispatchEvent(new PointerEvent("pointermove", { ...at, bubbles: true }));
      void document.body.offsetHeight; // styles and layout belong to the answer
      spent.push(performance.now() - began);
    }
    spent.sort((a, b) => a - b);
    return { median: spent[100], p99: spent[197] };
  });
  console.log(`hover over 100 × 100: median ${times.median!.toFixed(2)} ms, 99th of 100 ${times.p99!.toFixed(2)} ms`);
  await screenshot(page, "matrix-100");
});

test("12 layers of 8 heads over 200 tokens stay usable", async ({ page, server }, info) => {
  await opened(page, server);
  const huge = info.outputPath("huge.json");
  await writeFile(huge, JSON.stringify(sampleTrace({ words: 199, layers: 12, heads: 8, encoder: false })));
  await traceFile(page).setInputFiles(huge);
  await expect(page.getByText("huge.json")).toBeVisible();
  await page.getByText("Heads", { exact: true }).click();
  await expect(page.locator(".thumbnail")).toHaveCount(96);
  // A thumbnail is never larger than what is seen of it.
  const sizes = await page
    .locator(".thumbnail canvas")
    .evaluateAll((all) => all.map((c) => (c as HTMLCanvasElement).width));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(64);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  await screenshot(page, "heads-huge");
  await page.getByRole("button", { name: "Layer 7, head 5" }).click();
  await expect(page.locator(".row-label")).toHaveCount(199);
  await hoverCell(page, 3, 3, 199, 199);
  await expect(page.locator(".row-label.lit")).toHaveText("xw3");
});
