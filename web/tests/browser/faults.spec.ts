// What goes wrong, and what the page says then.
import { expect, finished, opened, output, screenshot, test, translate } from "./fixtures";
import { startServer } from "./mock_server";

test("the server is killed, comes back, and is asked again", async ({ page, server }) => {
  await opened(page, server);
  await server.close();
  await translate(page).click();
  await expect(page.getByRole("alert")).toContainText("The server does not answer. Is heed serve still running?");
  await screenshot(page, "server-gone");
  const back = await startServer();
  await page.route(`${server.url}explain`, (route) => route.continue({ url: `${back.url}explain` }));
  await page.getByRole("button", { name: "Try again" }).click();
  await finished(page);
  await expect(page.getByRole("alert")).toBeHidden();
  await back.close();
});

test("the connection breaks in the middle of a translation", async ({ page, server }) => {
  await opened(page, server);
  server.behaviour = { breakAfter: 3, delay: 20 };
  await translate(page).click();
  await expect(page.getByRole("alert")).toContainText("The connection broke while the answer was coming");
  await expect(page.getByText("Stopped. This is the first draft as far as it came")).toBeVisible();
  await expect(translate(page)).toBeEnabled();
});

test("a busy server is said to be busy and can be tried again", async ({ page, server }) => {
  await opened(page, server);
  server.behaviour = { failures: [{ status: 429 }, { status: 503 }] };
  await translate(page).click();
  await expect(page.getByRole("alert")).toContainText("The server is busy: its queue is full");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("alert")).toContainText("shutting down or not ready");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("alert")).toBeHidden();
});

test("a refusal is told in the server's words", async ({ page, server }) => {
  await opened(page, server);
  server.behaviour = { failures: [{ status: 422, error: "the text has 9000 characters, at most 5000" }] };
  await translate(page).click();
  await expect(page.getByRole("alert")).toContainText("The server says: the text has 9000 characters, at most 5000");
  await expect(page.getByRole("button", { name: "Try again" })).toBeHidden();
});

test("a token is asked for, and kept nowhere", async ({ page, server }) => {
  server.behaviour = { token: "s3cret" };
  await page.goto(server.url);
  await expect(page.getByRole("alert")).toContainText("asks for an API token");
  await screenshot(page, "token");
  await page.getByLabel("API token").fill("wrong");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("asks for an API token");
  await page.getByLabel("API token").fill("s3cret");
  await page.keyboard.press("Enter");
  await finished(page);
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]),
  );
  expect(kept).not.toContain("s3cret");
});

test("HTML in the text is shown and never run", async ({ page, server }) => {
  await opened(page, server);
  const hostile = '<img src=x onerror="window.ran=1"> <script>window.ran=1</script>';
  await page.getByLabel("A text to translate").fill(hostile);
  await page.keyboard.press("Enter");
  await finished(page);
  await expect(page.getByRole("group", { name: "Input words" })).toContainText("<script>window.ran=1</script>");
  for (const view of ["Tokens", "Lines", "Heads", "Matrix"]) await page.getByText(view, { exact: true }).click();
  await page.getByText("Read it as text").click();
  expect(await page.evaluate(() => "ran" in window)).toBe(false);
  expect(await page.locator("main img").count()).toBe(0);
});

test("right-to-left, wide characters and emoji stand right", async ({ page, server }) => {
  await opened(page, server);
  await page.getByLabel("A text to translate").fill("שלום עולם 你好 世界 👩🏽‍🚀 naïve");
  await page.keyboard.press("Enter");
  await finished(page);
  await expect(output(page)).toContainText("👩🏽‍🚀");
  const input = page.getByRole("group", { name: "Input words" });
  expect(await input.evaluate((e) => getComputedStyle(e).direction)).toBe("rtl");
  await expect(page.locator(".column-label")).toHaveText(["שלום", "עולם", "你好", "世界", "👩🏽‍🚀", "naïve"]);
  await screenshot(page, "scripts");
});

test("a model without attention says so", async ({ page, server }) => {
  server.behaviour = { withoutAttention: true, layers: 0 };
  await page.goto(server.url);
  await finished(page);
  await expect(page.getByText("This model has no attention")).toBeVisible();
});

test("a server that measures no trust is not asked in vain", async ({ page, server }) => {
  server.behaviour = { withoutTrust: true };
  await opened(page, server);
  await page.getByRole("button", { name: "Run the tests" }).click();
  await expect(page.getByRole("alert")).toContainText("The server could not test this picture.");
  await expect(output(page)).toContainText("gouvernement");
});
