// The page that heed serve hands out, with a model behind it: nothing here is made up but the corpus, by a grammar.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { expect, finished, hoverCell, output, test } from "./fixtures";

const command = process.env.HEED_COMMAND ?? "";
const missing = "HEED_COMMAND names no heed command to train and serve a model with";
if (!command && process.env.CI) throw new Error(missing);
if (!command) console.warn(`The page is not tested with a real server: ${missing}.`);
test.skip(!command, missing);
test.describe.configure({ mode: "serial" }); // one model, one server

interface Answer {
  source: { words: { text: string }[] };
  target: { text: string; words: { text: string }[] };
  alignment: number[][];
}

let folder = "";
let server: ChildProcess;
let url = "";
let sentence = "";
let translation = "";

// A Transformer of two heads that has seen 200 sentences for a second or two: it writes words and looks at some.
function trainModel(): string {
  const run = (...words: string[]) => execFileSync(command, words, { stdio: ["ignore", "ignore", "pipe"] });
  const corpus = join(folder, "corpus");
  const model = join(folder, "tiny");
  const options = {
    source: join(corpus, "train.en"),
    target: join(corpus, "train.fr"),
    output: model,
    vocabulary: "words",
    layers: 1,
    "decoder-layers": 2,
    width: 32,
    "feed-forward": 64,
    heads: 2,
    dropout: 0,
    steps: 300,
    "warm-up": 50,
    "learning-rate": 0.01,
    "batch-words": 512,
    shards: 1,
    threads: 1,
  };
  run("corpus", "grammar", corpus, "--pairs", "200");
  run(
    "train",
    "--model",
    "transformer",
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`]),
  );
  const firstLine = (file: string) => readFileSync(file, "utf8").split("\n")[0]!;
  sentence = firstLine(options.source);
  translation = firstLine(options.target);
  return model;
}

// Gives the address once the server says it.
function serve(model: string): Promise<string> {
  server = spawn(command, ["serve", model, "--port", "0", "--threads", "1", "--quiet"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`heed serve ended with ${code}`)));
    createInterface(server.stdout!).on("line", (line) => {
      const found = /http:\/\/\S+/.exec(line);
      if (found) resolve(found[0]);
    });
  });
}

test.beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "heed-page-"));
  url = await serve(trainModel());
});

test.afterAll(async () => {
  if (server?.exitCode === null) {
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGTERM");
    expect(await ended).toBe(0);
  }
  rmSync(folder, { recursive: true, force: true });
});

// What the server's policy forbids the page is an error on its console.
let errors: string[] = [];
test.beforeEach(({ page }) => {
  errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
});
test.afterEach(() => expect(errors).toEqual([]));

test("a typed sentence is translated by the model, with its matrix", async ({ page, request }) => {
  const answer = await request.post(`${url}explain`, { data: { text: sentence } }); // the search of every other way in
  const trace = (await answer.json()) as Answer;
  const [inputs, outputs] = [trace.source, trace.target].map((side) => side.words.map((word) => word.text));
  expect(outputs!.length).toBeGreaterThan(0);

  await page.goto(url);
  await page.getByLabel("A text to translate").fill(sentence);
  await page.keyboard.press("Enter");
  await finished(page);
  await expect(output(page).getByRole("button")).toHaveText(outputs!);
  await expect(page.locator(".column-label")).toHaveText(inputs!);
  await expect(page.locator(".row-label")).toHaveText(outputs!);

  // The brightest cell of the last word says the model's own number.
  const last = outputs!.length - 1;
  const weights = trace.alignment[last]!.slice(0, inputs!.length);
  const brightest = weights.indexOf(Math.max(...weights));
  await hoverCell(page, last, brightest, outputs!.length, inputs!.length);
  const percent = Math.round(100 * weights[brightest]!);
  await expect(page.locator(".reading-line")).toHaveText(
    `“${outputs![last]}” looks at “${inputs![brightest]}” with ${percent} %`,
  );
});

test("heads, search, measures and a given output come from the model too", async ({ page }) => {
  await page.goto(`${url}#text=${encodeURIComponent(sentence)}`);
  await finished(page);
  await page.getByRole("button", { name: "Run the tests" }).click();
  await expect(page.getByText("Comprehensiveness")).toBeVisible();
  await page.getByText("Heads", { exact: true }).click();
  await expect(page.locator(".thumbnail")).toHaveCount(4);
  await page.getByText("Search", { exact: true }).click();
  await page.getByRole("button", { name: "Show the search" }).click();
  await expect(page.locator(".twig.chosen").first()).toBeVisible();
  await page.getByText("Matrix", { exact: true }).click();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("The output that the model is made to write").fill(translation);
  await page.keyboard.press("Enter");
  await expect(page.locator(".row-label")).toHaveText(translation.split(" "));
  // A picture is drawn on the way to a file, which a policy can forbid.
  await page.locator(".menu summary").click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Picture as PNG" }).click();
  expect((await download).suggestedFilename()).toMatch(/\.png$/);
});

test("an exported page shows its trace from disk, and runs nothing that was put into it", async ({ page, context }) => {
  const file = join(folder, "explained.html");
  const text = `${sentence} <script>document.title = "attacked"</script>`;
  execFileSync(command, ["explain", join(folder, "tiny"), text, "--html", file], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  await page.goto(pathToFileURL(file).href);
  await expect(page.locator(".row-label").first()).toBeVisible();
  await page.locator(".menu summary").click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Picture as PNG" }).click();
  expect((await download).suggestedFilename()).toMatch(/\.png$/);

  const attack = `<script>document.title = "attacked"</script><img src="data:," onerror="document.title = 'attacked'">`;
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace("<body>", () => `<body>${attack}`),
  );
  const attacked = await context.newPage();
  const blocked: string[] = [];
  attacked.on("console", (message) => message.type() === "error" && blocked.push(message.text()));
  await attacked.goto(pathToFileURL(file).href);
  await expect(attacked.locator(".row-label").first()).toBeVisible();
  await expect.poll(() => blocked.length).toBe(2);
  for (const error of blocked) expect(error).toContain("violates the following Content Security Policy directive");
  expect(await attacked.title()).not.toContain("attacked");
});
