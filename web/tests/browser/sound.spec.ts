// Sounds: recorded or given, heard, and followed by a cursor.
import type { Page } from "@playwright/test";
import { sampleWav, speechTrace } from "../sample";
import { accessible, drop, expect, finished, screenshot, test } from "./fixtures";

// Chromium has a microphone that beeps, and does not ask whether the page may use it.
test.use({
  launchOptions: async ({ launchOptions }, use) => {
    const args = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];
    await use({ ...launchOptions, args: [...(launchOptions.args ?? []), ...args] });
  },
});

const wave = () => ({ name: "off.wav", mimeType: "audio/wav", buffer: sampleWav(3.2) });
const record = (page: Page) => page.getByRole("button", { name: /^(Record|Stop recording)/ });
const cursor = (page: Page, side = 0) => page.locator(".pane").nth(side).locator(".cursor");
const cursorX = async (page: Page, side = 0) => (await cursor(page, side).boundingBox())!.x;

test("what the microphone hears is sent as a WAV file", async ({ page, server }) => {
  await page.goto(`${server.url}#model=speech`);
  await record(page).click();
  await expect(record(page)).toHaveText("Stop recording (0:01)");
  await record(page).click();
  await finished(page);
  await expect(page.getByText("recording.wav")).toBeVisible();
  const { base64 } = (server.requests.at(-1) as { inputs: { speech: { base64: string } } }).inputs.speech;
  const bytes = Buffer.from(base64, "base64");
  expect(bytes.toString("latin1", 0, 4) + bytes.toString("latin1", 8, 12)).toBe("RIFFWAVE");
  expect([bytes.readUInt16LE(22), bytes.readUInt32LE(24), bytes.readUInt16LE(34)]).toEqual([1, 16_000, 16]);
  expect(bytes.readUInt32LE(40)).toBe(bytes.length - 44);
  expect(bytes.length).toBeGreaterThan(16_000); // half a second
  const loudest = Math.max(
    ...Array.from({ length: (bytes.length - 44) / 2 }, (_, i) => Math.abs(bytes.readInt16LE(44 + 2 * i))),
  );
  expect(loudest).toBeGreaterThan(1000); // the beep
  await expect(record(page)).toHaveText("Record");
});

test("a page that may not record says so", async ({ page, server }) => {
  await page.addInitScript(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", "NotAllowedError"));
  });
  await page.goto(`${server.url}#model=speech`);
  await record(page).click();
  await expect(page.getByRole("alert")).toContainText("does not allow this page to use the microphone");
  await expect(record(page)).toHaveText("Record");
  expect(server.requests).toEqual([]);
});

test("a given sound has its waveform and its words, and a cursor follows it", async ({ page, server }) => {
  await page.goto(`${server.url}#model=speech`);
  await page.getByLabel("A sound to transcribe").setInputFiles(wave());
  await finished(page);
  await expect(page.getByRole("img", { name: "Waveform of the sound" })).toBeVisible();
  await expect(page.locator(".said")).toHaveText(["turn", "the", "light", "off", "please"]);
  await expect(page.locator(".clock")).toHaveText("0:00.0 of 0:03.2");
  await expect(cursor(page)).toBeHidden();
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await expect(page.getByRole("button", { name: "Pause", exact: true })).toBeVisible();
  await expect(page.locator(".said.now")).toHaveText(/^(turn|the|light|off|please)$/); // whichever it has come to
  const before = await cursorX(page);
  await expect.poll(() => cursorX(page)).toBeGreaterThan(before);
  await page.getByRole("button", { name: "Pause", exact: true }).click();

  // A click goes to that moment; the cursor stands over the same place of the cells.
  const line = (await page.locator(".sound-line").boundingBox())!;
  await page.mouse.click(line.x + line.width / 2, line.y + 10);
  await expect(page.locator(".clock")).toHaveText("0:01.6 of 0:03.2");
  await expect(page.locator(".said.now")).toHaveText("light");
  const cells = (await page.locator(".cells canvas").boundingBox())!;
  expect(Math.abs((await cursorX(page)) + 1 - (cells.x + cells.width / 2))).toBeLessThan(2);
  const drawn = (await cursor(page).boundingBox())!;
  expect(drawn.y).toBeLessThan(line.y + 1);
  expect(drawn.y + drawn.height).toBeGreaterThan(cells.y + cells.height - 1);
  await accessible(page);
  await screenshot(page, "sound-playing");
});

test("two models listen to one sound, and one cursor follows in both", async ({ page, server }) => {
  await page.goto(`${server.url}#model=speech`);
  await page.getByLabel("A sound to transcribe").setInputFiles(wave());
  await finished(page);
  await page.getByRole("button", { name: "Compare" }).click();
  const second = page.locator(".pane").nth(1);
  await expect(second.locator(".said")).toHaveText(["turn", "the", "lights", "of"]);
  expect(server.requests.at(-1)).toMatchObject({ model: "other speech" });
  await second.getByRole("button", { name: "Play", exact: true }).click();
  await expect(page.locator(".pane").first().locator(".said.now")).toHaveText(/^(turn|the|light|off|please)$/);
  await page.getByRole("button", { name: "Pause", exact: true }).first().click();
  await expect(cursor(page, 0)).toBeVisible();
  await expect(cursor(page, 1)).toBeVisible();
  await screenshot(page, "sound-compared");
});

test("a trace with its sound can be heard without a server", async ({ page, server }) => {
  await page.goto(server.url);
  await finished(page);
  const playable = `data:audio/wav;base64,${sampleWav(3.2).toString("base64")}`;
  await drop(page, "speech.json", JSON.stringify(speechTrace("one two", playable)));
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await expect(page.locator(".said.now")).toHaveText("one");
  await drop(page, "speech.json", JSON.stringify(speechTrace("one two")));
  await expect(page.getByRole("button", { name: "Play", exact: true })).toBeHidden();
});
