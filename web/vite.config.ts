import { defineConfig, type Plugin } from "vite";

// The page must be one file that also works from disk: scripts and styles go into the HTML itself.
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("the build made no index.html");
      let html = String(page.source);
      for (const [name, file] of Object.entries(bundle)) {
        if (file === page) continue;
        const code = file.type === "chunk" ? file.code : String(file.source);
        const tag =
          file.type === "chunk"
            ? new RegExp(`<script[^>]*src="[^"]*${name}"[^>]*></script>`)
            : new RegExp(`<link[^>]*href="[^"]*${name}"[^>]*>`);
        if (!tag.test(html)) throw new Error(`${name} has no place in the page`);
        const safe = code.trim().replace(/<\/(script|style)/gi, "<\\/$1");
        html = html.replace(tag, () =>
          file.type === "chunk" ? `<script type="module">${safe}</script>` : `<style>${safe}</style>`,
        );
        delete bundle[name];
      }
      page.source = html;
    },
  };
}

export default defineConfig({
  plugins: [oneFile()],
  base: "./",
  build: { target: "es2022", assetsInlineLimit: 1 << 20, cssCodeSplit: false, modulePreload: false },
  server: { proxy: { "/models": "http://127.0.0.1:8080", "/explain": "http://127.0.0.1:8080" } },
  test: { include: ["tests/logic/**/*.test.ts"] },
} as Parameters<typeof defineConfig>[0]);
