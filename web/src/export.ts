// Pictures and traces as files.
import type { Theme } from "./logic/colour";
import type { View } from "./logic/picture";
import { type Trace, textOf, writeTrace } from "./logic/trace";
import type { StageView } from "./views/view";

function save(name: string, content: Blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The download has begun once the event is over.
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A name for a file: letters and digits of any script, of the first text that there is.
function nameOf(trace: Trace): string {
  const text = trace.axes.map(textOf).find(Boolean) ?? "";
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  return ["heed", ...words.slice(0, 5)].join("-").toLowerCase();
}

export function exportJson(trace: Trace) {
  save(`${nameOf(trace)}.json`, new Blob([writeTrace(trace)], { type: "application/json" }));
}

const largestPng = 16384; // pixels on each side; browsers draw no larger canvas

// Twice the size on the screen, where that can be drawn.
async function toPng(svg: string): Promise<Blob> {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    const scale = Math.min(2, largestPng / Math.max(image.naturalWidth, image.naturalHeight));
    canvas.width = Math.floor(scale * image.naturalWidth);
    canvas.height = Math.floor(scale * image.naturalHeight);
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))));
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}

export async function exportPicture(kind: "svg" | "png", name: View, view: StageView, trace: Trace, theme: Theme) {
  const title = trace.axes.map((axis) => textOf(axis) || axis.name).join(" → ");
  const svg = view.svg(title, theme);
  const content = kind === "svg" ? new Blob([svg], { type: "image/svg+xml" }) : await toPng(svg);
  save(`${nameOf(trace)}-${name}.${kind}`, content);
}
