// Speaks HTTP as heed serve does, with made-up answers, so that the page is tested without a model.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import {
  captionTrace,
  conditionalTrace,
  documentTrace,
  entailmentTrace,
  french,
  hierarchicalTrace,
  readingTrace,
  review,
  sampleTrace,
  selfAttentiveTrace,
  speechTrace,
  type Text,
} from "../sample";

export const pagePath = fileURLToPath(new URL("../../dist/index.html", import.meta.url));
export const pageHtml = () => readFileSync(pagePath, "utf8");

export interface Behaviour {
  token?: string; // asked for
  delay?: number; // milliseconds between tokens
  failures?: { status: number; error?: string }[]; // of the next requests to /explain, in order
  breakAfter?: number; // tokens, then the connection is cut
  words?: number; // of a long made-up answer
  layers?: number;
  heads?: number;
  withoutAttention?: boolean;
  withoutTrust?: boolean; // whatever is asked
  withoutExample?: boolean;
  searching?: number; // milliseconds between the draft and the result
  draft?: string; // the first draft, where it is not what the search finds
}

export interface MockServer {
  url: string;
  behaviour: Behaviour;
  requests: Record<string, unknown>[]; // what was sent to /explain
  close(): Promise<void>;
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// As src/explain/content_policy.cpp: the page's own scripts by their hashes, pictures from inside the page, nothing else.
function policyOf(html: string): string {
  const scripts = Array.from(html.matchAll(/<script[^>]*>([\s\S]*?)<\/script/g), ([, code]) => {
    return ` 'sha256-${createHash("sha256").update(code!).digest("base64")}'`;
  });
  return `default-src 'none'; script-src${scripts.join("")}; style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

function answer(to: ServerResponse, status: number, value: unknown) {
  to.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const piece of request) body += piece;
  return body;
}

// Models of each job that the page shows in its own way; two that translate, the second without an example.
function models(behaviour: Behaviour) {
  const attentions = Array.from({ length: behaviour.layers ?? 2 }, (_, i) => ({
    name: `decoder.layer${i + 1}.source`,
    layer: i + 1,
    heads: behaviour.heads ?? 4,
    rows: "target",
    columns: "source",
  }));
  const text = (name: string) => ({ name, kind: "text" });
  const translation = {
    job: "translation",
    verb: "translate",
    parameters: 123456,
    inputs: [text("source")],
    output: text("target"),
    attentions,
  };
  const classification = {
    job: "classification",
    verb: "classify",
    inputs: [{ name: "document", kind: "document" }],
    output: { name: "label", kind: "label" },
    labels: ["positive", "neutral", "negative"],
    example: [review],
  };
  const entailment = {
    job: "entailment",
    verb: "judge",
    inputs: [text("premise"), text("hypothesis")],
    output: { name: "label", kind: "label" },
    labels: ["entailment", "neutral", "contradiction"],
    example: ["a man plays a guitar on stage", "someone makes music"],
  };
  const recognition = {
    job: "recognition",
    verb: "transcribe",
    inputs: [{ name: "speech", kind: "sound" }],
    output: text("transcript"),
  };
  const others = [
    {
      name: "captions",
      job: "captioning",
      verb: "describe",
      inputs: [{ name: "image", kind: "image" }],
      output: text("caption"),
    },
    { ...recognition, name: "speech" },
    { ...recognition, name: "other speech" },
    { ...classification, name: "reviews" },
    { ...classification, name: "sentences" },
    {
      ...classification,
      name: "rows",
      attentions: [{ name: "label.document", layer: 1, heads: 5, rows: "label", columns: "document" }],
    },
    { ...entailment, name: "pairs" },
    { ...entailment, name: "conditional" },
    {
      name: "cloze",
      job: "reading",
      verb: "answer",
      inputs: [{ name: "document", kind: "document" }, text("question")],
      output: { name: "answer", kind: "choice" },
      attentions: [
        { name: "question.document", layer: 1, heads: 1, rows: "question", columns: "document" },
        { name: "document.question", layer: 1, heads: 1, rows: "document", columns: "question" },
      ],
      example: ["linda took the lamp to the barn", "the lamp is in the XXXXX"],
    },
  ];
  return {
    models: [
      {
        ...translation,
        name: "demo",
        system: "rnnsearch",
        attention: "additive × global × softmax",
        normalisers: ["sparsemax", "entmax"],
        languages: ["en", "fr"],
        ...(!behaviour.withoutExample && { example: ["the old cat sleeps ."] }),
      },
      { ...translation, name: "transformer", system: "transformer", attention: "" },
      ...others.map((model) => ({ ...model, system: "made up", attention: "" })),
    ],
  };
}

function otherTrace(request: Record<string, unknown>) {
  const inputs = (request.inputs ?? {}) as Record<string, string>;
  const label = request.target === undefined ? "positive" : String(request.target);
  switch (request.model) {
    case "captions":
      return captionTrace();
    case "speech":
      return speechTrace();
    case "other speech":
      return speechTrace("turn the lights of");
    case "reviews":
      return documentTrace(String(request.text), label);
    case "sentences":
      return hierarchicalTrace(String(request.text), label);
    case "rows":
      return selfAttentiveTrace(String(request.text), label);
    case "pairs":
      return entailmentTrace(inputs.premise, inputs.hypothesis);
    case "conditional":
      return conditionalTrace(inputs.premise!, inputs.hypothesis!);
    case "cloze":
      return readingTrace(inputs.document, inputs.question, request.choices as string[] | undefined);
    default:
      return null;
  }
}

// The words in upper case stand for a translation of any text but the sample's.
function traceOf(request: Record<string, unknown>, behaviour: Behaviour) {
  const text = String(request.text);
  const own = text.startsWith("the government") ? french : text.toUpperCase();
  const trace: Partial<ReturnType<typeof sampleTrace>> = sampleTrace(
    {
      model: String(request.model ?? "demo"),
      layers: request.attentions ? (behaviour.layers ?? 2) : 0,
      heads: behaviour.heads ?? 4,
      beam: request.alternatives === true,
      trust: request.trust === true && !behaviour.withoutTrust,
      flat: request.normaliser ? 0 : request.model === "transformer" ? 0.3 : 0.05,
      ...(behaviour.words && { words: behaviour.words }),
    },
    text,
    request.target === undefined ? own : String(request.target),
  );
  if (behaviour.withoutAttention) delete trace.alignment;
  return trace;
}

// A first draft token by token, then what the search found. A label has no draft.
async function stream(request: Record<string, unknown>, to: ServerResponse, behaviour: Behaviour) {
  const other = otherTrace(request);
  const trace = other ?? traceOf(request, behaviour);
  const { draft } = behaviour;
  const drafted = other ?? traceOf(draft === undefined ? request : { ...request, target: draft }, behaviour);
  const send = (event: string, data: unknown) => to.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  to.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  const [source, target] =
    "axes" in drafted ? [drafted.axes[0], drafted.axes.at(-1)!] : [drafted.source, drafted.target!];
  const { tokens, text } = target as Text;
  if (!("choices" in drafted)) {
    if ((source as { kind?: string }).kind === undefined) send("source", source);
    for (const [step, token] of tokens.entries()) {
      if (step === behaviour.breakAfter) {
        to.destroy();
        return;
      }
      const soFar = [...text].slice(0, token.end).join("");
      const weights = drafted.alignment?.[step];
      send("token", { step, token: token.text, text: soFar, weights, log_probability: -0.1, draft: true });
      await wait(behaviour.delay ?? 0);
    }
  }
  await wait(behaviour.searching ?? 0);
  send("trace", trace);
  to.end();
}

export async function startServer(behaviour: Behaviour = {}): Promise<MockServer> {
  const requests: Record<string, unknown>[] = [];
  const state = { behaviour };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const now = state.behaviour;
    if (path === "/") {
      const html = pageHtml();
      const headers = { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policyOf(html) };
      response.writeHead(200, headers).end(html);
      return;
    }
    if (now.token && request.headers.authorization !== `Bearer ${now.token}`) {
      answer(response, 401, { error: "this server needs an API token" });
    } else if (path === "/models") {
      answer(response, 200, models(now));
    } else if (path === "/explain" && request.method === "POST") {
      const asked = JSON.parse(await bodyOf(request)) as Record<string, unknown>;
      requests.push(asked);
      const failure = now.failures?.shift();
      if (failure) answer(response, failure.status, { error: failure.error ?? "no" });
      else if (request.headers.accept === "text/event-stream") await stream(asked, response, now);
      else answer(response, 200, otherTrace(asked) ?? traceOf(asked, now));
    } else {
      answer(response, 404, { error: `there is no ${path}` });
    }
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    get behaviour() {
      return state.behaviour;
    },
    set behaviour(next) {
      state.behaviour = next;
    },
    requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
