// Pictures and traces as files.
import { textWidth } from "./dom";
import type { Theme } from "./logic/colour";
import type { Picture } from "./logic/picture";
import { linesSvg, matrixSvg } from "./logic/svg";
import { type Trace, writeTrace } from "./logic/trace";

function save(name: string, content: Blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The download has begun once the event is over.
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A name for a file: letters and digits of any script.
function nameOf(trace: Trace): string {
  const words = trace.source.text.match(/[\p{L}\p{N}]+/gu) ?? [];
  return ["heed", ...words.slice(0, 5)].join("-").toLowerCase();
}

export function exportJson(trace: Trace) {
  save(`${nameOf(trace)}.json`, new Blob([writeTrace(trace)], { type: "application/json" }));
}

async function toPng(svg: string): Promise<Blob> {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.naturalWidth;
    canvas.height = 2 * image.naturalHeight;
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))));
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}

export async function exportPicture(
  kind: "svg" | "png",
  view: "matrix" | "lines",
  pictures: Picture[],
  trace: Trace,
  theme: Theme,
) {
  const title = `${trace.source.text} → ${trace.target.text}`;
  const svg =
    view === "lines" ? linesSvg(pictures, title, theme, textWidth) : matrixSvg(pictures[0]!, title, theme, textWidth);
  const content = kind === "svg" ? new Blob([svg], { type: "image/svg+xml" }) : await toPng(svg);
  save(`${nameOf(trace)}-${view}.${kind}`, content);
}
