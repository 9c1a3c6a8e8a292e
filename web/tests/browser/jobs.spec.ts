// Each job with its own inputs and its own picture.
import type { Page } from "@playwright/test";
import { captionTrace, review } from "../sample";
import { accessible, drop, expect, finished, hoverCell, output, screenshot, test } from "./fixtures";

const views = (page: Page) => page.getByRole("group", { name: "View" }).getByRole("radio");

async function possibleViews(page: Page): Promise<string[]> {
  const labels = page.locator(".choices").first().locator("label:not([hidden])");
  return labels.allTextContents();
}

const { preview } = captionTrace().axes[0] as { preview: string };
const bytes = Buffer.from(preview.split(",")[1]!, "base64");
const dog = { name: "dog.bmp", mimeType: "image/bmp", buffer: bytes };

test("an image is given, seen small, and described word by word", async ({ page, server }) => {
  await page.goto(`${server.url}#model=captions`);
  await expect(page.getByText("Nothing has been asked yet.")).toBeVisible();
  expect(server.requests).toEqual([]);
  await page.getByLabel("An image to describe").setInputFiles(dog);
  await finished(page);
  expect(server.requests.at(-1)).toMatchObject({ inputs: { image: { base64: bytes.toString("base64") } } });
  await expect(page.getByAltText("The image that was given")).toBeVisible();
  await expect(page.locator(".image-word")).toHaveText(["a", "brown", "dog", "on", "grass"]);
  expect(await possibleViews(page)).toEqual(["Picture", "Heads", "Search"]);
  const loaded = await page
    .locator(".overlaid.large img")
    .evaluate((image) => (image as HTMLImageElement).decode().then(() => (image as HTMLImageElement).naturalWidth));
  expect(loaded).toBe(8);

  // The brightest cell is the one without any dark over it.
  const brightest = () =>
    page.locator(".overlaid.large canvas").evaluate((element) => {
      const canvas = element as HTMLCanvasElement;
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      const dark = Array.from({ length: data.length / 4 }, (_, i) => data[4 * i + 3]!);
      return dark.indexOf(Math.min(...dark));
    });
  await output(page).getByRole("button", { name: "brown" }).hover();
  await expect(page.locator(".image-word.lit")).toHaveText("brown");
  const second = await brightest();
  await page.locator(".image-word", { hasText: "grass" }).hover();
  await expect(page.locator(".image-caption")).toContainText("“grass” looked at its brightest place");
  expect(await brightest()).toBeGreaterThan(second);
  await page.locator(".overlaid.large").hover({ position: { x: 5, y: 5 } });
  await expect(page.locator(".reading-line")).toHaveText(/“grass” looks at row 1, column 1 with/);
  await accessible(page);
  await screenshot(page, "job-image");
});

test("an image that is dropped goes to the model, a trace is opened", async ({ page, server }) => {
  await page.goto(`${server.url}#model=captions`);
  await expect(page.getByLabel("An image to describe")).toBeVisible();
  const data = await page.evaluateHandle((content) => {
    const transfer = new DataTransfer();
    const binary = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
    transfer.items.add(new File([binary], "dog.bmp", { type: "image/bmp" }));
    return transfer;
  }, bytes.toString("base64"));
  await page.dispatchEvent("body", "drop", { dataTransfer: data });
  await expect(page.locator(".image-word")).toHaveCount(5);
  await expect(page.getByText("dog.bmp")).toBeVisible();
  await drop(page, "caption.json", JSON.stringify(captionTrace("one two")));
  await expect(page.locator(".image-word")).toHaveText(["one", "two"]);
});

test("an image that is pasted goes to the model", async ({ page, server }) => {
  await page.goto(`${server.url}#model=captions`);
  await expect(page.getByLabel("An image to describe")).toBeVisible();
  await page.evaluate((content) => {
    const transfer = new DataTransfer();
    const binary = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
    transfer.items.add(new File([binary], "clip.bmp", { type: "image/bmp" }));
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true }));
  }, bytes.toString("base64"));
  await expect(page.locator(".image-word")).toHaveCount(5);
  await expect(page.getByText("clip.bmp")).toBeVisible();
});

test("an image keeps its own shape, whatever the grid", async ({ page, server }) => {
  await page.goto(`${server.url}#model=captions`);
  const trace = captionTrace("one two");
  const wide = await page.evaluate(() => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [90, 30];
    return canvas.toDataURL("image/png");
  });
  for (const axis of trace.axes) if ("preview" in axis) axis.preview = wide;
  await drop(page, "wide.json", JSON.stringify(trace));
  const shape = async () => {
    const box = (await page.locator(".overlaid.large").boundingBox())!;
    return box.width / box.height;
  };
  await expect.poll(shape).toBeCloseTo(3, 1);
});

test("a sound is transcribed, with a matrix in seconds", async ({ page, server }) => {
  await page.goto(`${server.url}#model=speech`);
  const wave = { name: "off.wav", mimeType: "audio/wav", buffer: Buffer.from("RIFF") };
  await page.getByLabel("A sound to transcribe").setInputFiles(wave);
  await finished(page);
  expect(server.requests.at(-1)).toMatchObject({ model: "speech", inputs: { speech: { base64: "UklGRg==" } } });
  await expect(page.locator(".row-label")).toHaveText(["turn", "the", "light", "off", "please"]);
  expect(await page.locator(".column-label").allTextContents()).toEqual(expect.arrayContaining(["0.0 s", "1.0 s"]));
  expect(await possibleViews(page)).toEqual(["Matrix", "Heads", "Search"]);
  await hoverCell(page, 2, 35, 5, 107);
  await expect(page.locator(".reading-line")).toHaveText(/“light” looks at 1\.06–1\.09 s with \d+ %/);
  await accessible(page);
  await screenshot(page, "job-sound");
});

test("a document gets a label, and its words are tinted by the label's look", async ({ page, server }) => {
  await page.goto(`${server.url}#model=reviews`);
  await finished(page);
  await expect(page.getByLabel("A document to classify")).toHaveValue(review);
  expect(server.requests.at(-1)).toMatchObject({ model: "reviews", text: review });
  await expect(page.locator(".label-headline")).toContainText("positive 81 %");
  await expect(page.getByRole("list", { name: "Probability of each label" }).getByRole("listitem")).toHaveText([
    /positive.*81 %/,
    /neutral.*15 %/,
    /negative.*4 %/,
  ]);
  expect(await possibleViews(page)).toEqual(["Text", "Heads"]);
  await expect(page.locator(".highlighted")).toHaveText(review, { useInnerText: true });
  await page.locator(".highlighted .word", { hasText: "wonderful" }).hover();
  await expect(page.locator(".reading-line")).toHaveText(/“positive” looks at “wonderful,” with 22 %/);
  await accessible(page);
  await screenshot(page, "job-document");
  await page.getByRole("button", { name: "negative" }).click();
  await expect(page.locator(".label-headline")).toContainText("negative 4 % (given, not the model's own choice)");
  expect(server.requests.at(-1)).toMatchObject({ target: "negative" });
  await page.getByRole("button", { name: "Back to the model's own" }).click();
  await expect(page.locator(".label-headline")).toContainText("positive");
});

test("two texts stand side by side, and both are in the link", async ({ page, server }) => {
  await page.goto(`${server.url}#model=pairs`);
  await finished(page);
  await expect(page.getByLabel("Premise", { exact: true })).toHaveValue("a man plays a guitar on stage");
  await page.getByLabel("Hypothesis", { exact: true }).fill("nobody plays");
  await page.getByRole("button", { name: "Judge" }).click();
  await expect(page.locator(".row-label")).toHaveText(["nobody", "plays"]);
  expect(server.requests.at(-1)).toMatchObject({
    inputs: { premise: "a man plays a guitar on stage", hypothesis: "nobody plays" },
  });
  await expect(page.locator(".label-headline")).toContainText("entailment 70 %");
  await expect(page.locator(".key")).toContainText(
    "Each row is a word of the hypothesis, each column a word of the premise.",
  );
  expect(await possibleViews(page)).toEqual(["Matrix", "Lines", "Heads"]);
  await accessible(page);
  await screenshot(page, "job-pair");
  await page.reload();
  await finished(page);
  await expect(page.getByLabel("Hypothesis", { exact: true })).toHaveValue("nobody plays");
  await expect(page.locator(".row-label")).toHaveText(["nobody", "plays"]);
});

test("a reader is told what it can answer, and both directions of its look are there", async ({ page, server }) => {
  await page.goto(`${server.url}#model=cloze`);
  await finished(page);
  expect(server.requests.at(-1)).not.toHaveProperty("choices");
  await page.getByLabel(/^Choices, one per line/).fill("barn\ntower | in the lamp");
  await page.getByRole("button", { name: "Answer" }).click();
  await expect
    .poll(() => server.requests.at(-1))
    .toMatchObject({
      inputs: { document: "linda took the lamp to the barn", question: "the lamp is in the XXXXX" },
      choices: ["barn", "tower", "in the lamp"],
    });
  const list = page.getByRole("list", { name: "Probability of each label" }).getByRole("listitem");
  await expect(list).toHaveText([/barn.*70 %/, /tower.*20 %/, /in the lamp.*12 %/]);
  await expect(page.locator(".highlighted")).toHaveText("linda took the lamp to the barn", { useInnerText: true });
  await page.getByLabel("Attention", { exact: true }).selectOption("question.document");
  await expect(page.locator(".row-label")).toHaveText(["the", "lamp", "is", "in", "the", "XXXXX"]);
  await page.getByLabel("Attention", { exact: true }).selectOption("document.question");
  await expect(page.locator(".column-label")).toHaveText(["the", "lamp", "is", "in", "the", "XXXXX"]);
  await accessible(page);
  await page.reload();
  await finished(page);
  await expect(page.getByLabel(/^Choices, one per line/)).toHaveValue("barn\ntower\nin the lamp");
  await page.getByLabel("Model", { exact: true }).selectOption("pairs");
  await expect(page.getByLabel(/^Choices/)).toHaveCount(0);
});

test("another job brings its own fields, example and picture", async ({ page, server }) => {
  await page.goto(server.url);
  await finished(page);
  await page.getByLabel("Model", { exact: true }).selectOption("reviews");
  await finished(page);
  await expect(page.locator(".highlighted")).toBeVisible();
  await expect(views(page)).toHaveCount(2);
  await page.getByLabel("Model", { exact: true }).selectOption("captions");
  await expect(page.getByText("Nothing has been asked yet.")).toBeVisible();
  await page.getByLabel("Model", { exact: true }).selectOption("demo");
  await expect(page.getByLabel("A text to translate")).toHaveValue("the old cat sleeps .");
  await expect(output(page)).toContainText("THE OLD CAT");
});

test("a model without an example starts with an empty box, and what was typed stays", async ({ page, server }) => {
  await page.goto(`${server.url}#model=transformer`);
  await expect(page.getByText("Nothing has been asked yet.")).toBeVisible();
  await expect(page.getByLabel("A text to translate")).toHaveValue("");
  expect(server.requests).toEqual([]);
  await page.getByLabel("A text to translate").fill("my own words");
  await page.keyboard.press("Enter");
  await expect(output(page)).toContainText("MY OWN WORDS");
  await page.getByLabel("Model", { exact: true }).selectOption("demo");
  await expect.poll(() => server.requests.at(-1)).toMatchObject({ model: "demo", text: "my own words" });
  await expect(page.getByLabel("Normaliser", { exact: true })).toBeVisible();
  await page.getByLabel("Model", { exact: true }).selectOption("transformer");
  await expect(page.getByLabel("Normaliser", { exact: true })).toBeHidden(); // the server names none
});
