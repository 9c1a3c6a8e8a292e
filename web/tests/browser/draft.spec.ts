// The first draft while it comes, what replaces it, and ending it early.
import { expect, finished, opened, output, screenshot, stop, test } from "./fixtures";

const box = "A text to translate";

test("the first draft says that it is one, and the search's result replaces it", async ({ page, server }) => {
  await opened(page, server);
  server.behaviour = { delay: 60, searching: 700, draft: "one poor try" };
  await page.getByLabel(box).fill("one two three");
  await page.keyboard.press("Enter");
  await expect(page.getByText("First draft, word by word. The result of the search will replace it.")).toBeVisible();
  await expect(output(page)).toHaveText(/one poor try/);
  await screenshot(page, "draft");
  await finished(page);
  await expect(output(page)).toHaveText(/ONE TWO THREE/);
  await expect(page.getByText("The search replaced the first draft “one poor try”.")).toBeVisible();
});

test("words that are there stay the same elements while others come", async ({ page, server }) => {
  await opened(page, server);
  server.behaviour = { delay: 80 };
  await page.getByLabel(box).fill("alpha beta gamma delta epsilon zeta");
  await page.keyboard.press("Enter");
  const words = output(page).getByRole("button");
  await expect(words.first()).toHaveText("ALPHA");
  // Nothing that is there may be taken out or put in again; only new words are added.
  await output(page).evaluate((group) => {
    const seen = { first: group.querySelector("button"), added: 0, removed: 0 };
    Object.assign(window, { seen });
    new MutationObserver((list) => {
      for (const { addedNodes, removedNodes } of list) {
        seen.added += Array.from(addedNodes).filter((n) => n.nodeName === "BUTTON").length;
        seen.removed += Array.from(removedNodes).filter((n) => n.nodeName === "BUTTON").length;
      }
    }).observe(group, { childList: true });
  });
  const before = await words.count();
  await expect(words).toHaveCount(6);
  await finished(page);
  const result = await output(page).evaluate((group) => {
    const { seen } = window as unknown as { seen: { first: Element; added: number; removed: number } };
    return { added: seen.added, removed: seen.removed, same: group.querySelector("button") === seen.first };
  });
  expect(result.same).toBe(true);
  expect(result.removed).toBe(0);
  expect(result.added).toBeLessThanOrEqual(6 - before + 1);
});

test("Stop ends what runs and keeps what came", async ({ page, server }) => {
  await opened(page, server);
  await expect(stop(page)).toBeHidden();
  server.behaviour = { delay: 400 };
  await page.getByLabel(box).fill("alpha beta gamma delta epsilon zeta");
  await page.keyboard.press("Enter");
  await expect(output(page).getByRole("button").nth(1)).toHaveText("BETA");
  await stop(page).click();
  await expect(stop(page)).toBeHidden();
  await expect(page.getByText("Stopped. This is the first draft as far as it came")).toBeVisible();
  await expect(output(page)).toContainText("ALPHA BETA");
  await expect(output(page)).not.toContainText("ZETA");
  await page.waitForTimeout(900);
  await expect(output(page)).not.toContainText("ZETA");
  await expect(page.getByRole("alert")).toBeHidden();
});

test("nobody is told that there are no heads while they are still to come", async ({ page, server }) => {
  await opened(page, server, "&view=heads");
  await expect(page.locator(".thumbnail")).toHaveCount(8);
  server.behaviour = { delay: 60, searching: 600 };
  await page.getByLabel(box).fill("one two three");
  await page.keyboard.press("Enter");
  await expect(page.getByText("The heads come with the finished output.")).toBeVisible();
  await expect(page.getByText("There are no layers and heads")).toBeHidden();
  await expect(page.locator(".thumbnail")).toHaveCount(8);
});

test("60 words have every label in the whole width of the card", async ({ page, server }) => {
  server.behaviour = { words: 60 };
  await opened(page, server);
  await expect(page.locator(".column-label")).toHaveCount(60);
  const [canvas, pane] = await Promise.all(
    [".cells canvas", ".pane"].map(async (name) => (await page.locator(name).boundingBox())!),
  );
  expect(canvas!.width).toBeGreaterThan(0.75 * pane!.width);
  const hidden = await page
    .locator(".column-label, .row-label")
    .evaluateAll((all) => all.filter((e) => getComputedStyle(e).visibility !== "visible").length);
  expect(hidden).toBe(0);
  const overlap = await page.locator(".column-label").evaluateAll((all) => {
    const boxes = all.map((e) => e.getBoundingClientRect());
    return boxes.slice(1).filter((b, i) => b.left < boxes[i]!.right - 1.5).length;
  });
  expect(overlap).toBe(0);
  await screenshot(page, "matrix-60");
});

test("a very long text does not push the page away", async ({ page, server }) => {
  await opened(page, server);
  await page.getByLabel(box).fill("a long line of words\n".repeat(200));
  const [area, button] = await Promise.all(
    [page.getByLabel(box), page.locator(".composer .primary")].map(async (e) => (await e.boundingBox())!),
  );
  expect(area!.height).toBeLessThan(400);
  expect(button!.height).toBeLessThan(60);
});

test("a text without spaces is shown in pieces", async ({ page, server }) => {
  await opened(page, server);
  await page.getByLabel(box).fill("私は猫が好きです");
  await page.keyboard.press("Enter");
  await finished(page);
  await expect(page.locator(".column-label")).toHaveText(["私は猫が", "好きです"]); // the pieces of the mock
});
