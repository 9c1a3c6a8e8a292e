import "./style.css";
import { App } from "./app";
import { HighlightSignal } from "./highlight";
import { Page } from "./views/page";

// A page that heed explain --html wrote has its trace inside; its title says of what.
function embeddedTrace(): string {
  const scripts = document.querySelectorAll('script[type="application/json"]#trace');
  return Array.from(scripts, (s) => s.textContent?.trim() ?? "").find((json) => json) ?? "";
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const app = new App(dark.matches ? "dark" : "light", window.location.hash);
let themeChosen = false;
const page = new Page(app, new HighlightSignal(), () => {
  themeChosen = true;
  app.setTheme(app.state.theme === "dark" ? "light" : "dark");
});
dark.addEventListener("change", () => {
  if (!themeChosen) app.setTheme(dark.matches ? "dark" : "light");
});
window.addEventListener("hashchange", () => app.follow(window.location.hash));
app.listen((state) => page.show(state));
page.show(app.state);

const trace = embeddedTrace();
if (trace) app.open([{ name: "This page's trace", json: trace }]);
else if (window.location.protocol.startsWith("http")) void app.connect();
