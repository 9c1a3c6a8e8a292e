import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

// Debian's Chromium, or the one that CHROMIUM names; nothing is downloaded.
const chromium = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((p) => existsSync(p));
if (!chromium) throw new Error("no Chromium: install Debian's package chromium, or name one in CHROMIUM");

export default defineConfig({
  testDir: "tests/browser",
  outputDir: "test-results",
  workers: 2,
  timeout: 300_000, // for a machine that is busy with other things
  expect: { timeout: 15_000 },
  reporter: "list",
  use: {
    browserName: "chromium",
    viewport: { width: 1280, height: 900 },
    launchOptions: { executablePath: chromium, args: ["--no-sandbox"] },
    permissions: ["clipboard-read", "clipboard-write"],
  },
});
