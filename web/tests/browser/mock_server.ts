// Speaks HTTP as heed serve does, with made-up answers, so that the page is tested without a model.
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { french, sampleTrace } from "../sample";

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
}

export interface MockServer {
  url: string;
  behaviour: Behaviour;
  requests: Record<string, unknown>[]; // what was sent to /explain
  close(): Promise<void>;
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function answer(to: ServerResponse, status: number, value: unknown) {
  to.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const piece of request) body += piece;
  return body;
}

function models(behaviour: Behaviour) {
  const attentions = Array.from({ length: behaviour.layers ?? 2 }, (_, i) => ({
    name: `decoder.layer${i + 1}.source`,
    layer: i + 1,
    heads: behaviour.heads ?? 4,
    rows: "target",
    columns: "source",
  }));
  return {
    models: [
      { name: "demo", system: "rnnsearch", attention: "additive × global × softmax", parameters: 123456, attentions },
      { name: "transformer", system: "transformer", attention: "", parameters: 654321, attentions },
    ],
  };
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

async function stream(request: Record<string, unknown>, to: ServerResponse, behaviour: Behaviour) {
  const trace = traceOf(request, behaviour);
  const send = (event: string, data: unknown) => to.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  to.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  send("source", trace.source);
  const { tokens, text } = trace.target!;
  for (const [step, token] of tokens.entries()) {
    if (step === behaviour.breakAfter) {
      to.destroy();
      return;
    }
    const soFar = [...text].slice(0, token.end).join("");
    send("token", { step, token: token.text, text: soFar, weights: trace.alignment?.[step], log_probability: -0.1 });
    await wait(behaviour.delay ?? 0);
  }
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
      response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(pageHtml());
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
      else answer(response, 200, traceOf(asked, now));
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
