// Sounds as numbers: what is drawn of them, where a moment is, and the file that is made of a recording.
import type { Said, SoundAxis } from "./trace";

export const recordedRate = 16_000; // samples per second

// One channel as a WAV file of 16 bits. What is outside -1..1 is clipped.
export function wavOf(samples: Float32Array, rate: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(44 + 2 * samples.length);
  const view = new DataView(bytes.buffer);
  const write = (at: number, text: string) => {
    for (let i = 0; i < text.length; ++i) bytes[at + i] = text.charCodeAt(i);
  };
  write(0, "RIFF");
  view.setUint32(4, 36 + 2 * samples.length, true);
  write(8, "WAVEfmt ");
  view.setUint32(16, 16, true); // bytes of the format
  view.setUint16(20, 1, true); // whole numbers
  view.setUint16(22, 1, true); // channel
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true); // bytes per second
  view.setUint16(32, 2, true); // bytes per moment
  view.setUint16(34, 16, true); // bits
  write(36, "data");
  view.setUint32(40, 2 * samples.length, true);
  samples.forEach((sample, i) => {
    view.setInt16(44 + 2 * i, Math.round(32767 * Math.min(1, Math.max(-1, sample))), true);
  });
  return bytes;
}

// Where the stretch begins that a frame stands for.
export function secondsAt(axis: SoundAxis, frame: number): number {
  return axis.frameMargin + frame * axis.frameSeconds;
}

export function secondsOf(axis: SoundAxis): number {
  return secondsAt(axis, axis.rows) + axis.frameMargin;
}

// Where a moment is along the frames, 0 to 1, and the moment of such a place.
export function placeOfMoment(seconds: number, axis: SoundAxis): number {
  const all = axis.rows * axis.frameSeconds;
  return all > 0 ? Math.min(1, Math.max(0, (seconds - axis.frameMargin) / all)) : 0;
}
export function momentOfPlace(place: number, axis: SoundAxis): number {
  return secondsAt(axis, place * axis.rows);
}

// Amplitudes as one shape around the middle of a box, for an SVG path; the loudest fills the height.
export function waveformPath(peaks: readonly number[], width: number, height: number): string {
  if (peaks.length === 0) return "";
  const loudest = Math.max(1e-3, ...peaks);
  const step = width / peaks.length;
  const written = (x: number) => String(Number(x.toFixed(2)));
  const edge = (up: number, from: number, to: number, peak: number) =>
    `L${written(from)} ${written((height / 2) * (1 - (up * peak) / loudest))}H${written(to)}`;
  const above = peaks.map((peak, i) => edge(1, i * step, (i + 1) * step, peak));
  const below = peaks.map((peak, i) => edge(-1, (i + 1) * step, i * step, peak)).reverse();
  return `M0 ${written(height / 2)}${above.join("")}${below.join("")}z`;
}

// Which of them is being said at a moment; -1: none.
export function saidAt(said: readonly Said[], seconds: number): number {
  return said.findIndex(({ begin, end }) => begin <= seconds && seconds < end);
}

// "1:04", or "0:03.2" where tenths count.
export function clock(seconds: number, tenths = false): string {
  const whole = tenths ? Math.floor(10 * seconds) / 10 : Math.floor(seconds);
  const rest = (whole % 60).toFixed(tenths ? 1 : 0);
  return `${Math.floor(whole / 60)}:${rest.padStart(tenths ? 4 : 2, "0")}`;
}
