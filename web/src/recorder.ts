// The microphone. What browsers record is compressed in ways that few programs read, so it becomes a WAV file here.
import { recordedRate, wavOf } from "./logic/sound";

export const longestRecording = 300; // seconds

// In words for a person.
export class MicrophoneError extends Error {}

function whyNot(error: unknown): string {
  switch ((error as Error).name) {
    case "NotAllowedError":
      return "The browser does not allow this page to use the microphone.";
    case "NotFoundError":
      return "There is no microphone.";
    default:
      return `The microphone cannot be used: ${(error as Error).message}`;
  }
}

export class Recording {
  readonly #stream: MediaStream;
  readonly #recorder: MediaRecorder;
  readonly #pieces: Blob[] = [];
  readonly #ended: Promise<void>;
  readonly #began = performance.now();

  static async begin(): Promise<Recording> {
    const devices = navigator.mediaDevices as MediaDevices | undefined;
    if (!devices) throw new MicrophoneError("Browsers let a page record only from localhost or over https.");
    try {
      return new Recording(await devices.getUserMedia({ audio: { channelCount: 1 } }));
    } catch (error) {
      throw new MicrophoneError(whyNot(error));
    }
  }

  private constructor(stream: MediaStream) {
    this.#stream = stream;
    this.#recorder = new MediaRecorder(stream);
    this.#recorder.addEventListener("dataavailable", ({ data }) => this.#pieces.push(data));
    this.#ended = new Promise((resolve) => this.#recorder.addEventListener("stop", () => resolve()));
    this.#recorder.start();
  }

  get seconds(): number {
    return (performance.now() - this.#began) / 1000;
  }

  async end(): Promise<File> {
    if (this.#recorder.state !== "inactive") this.#recorder.stop();
    await this.#ended;
    for (const track of this.#stream.getTracks()) track.stop();
    const recorded = await new Blob(this.#pieces, { type: this.#recorder.mimeType }).arrayBuffer();
    let sound: AudioBuffer;
    try {
      sound = await new OfflineAudioContext(1, 1, recordedRate).decodeAudioData(recorded);
    } catch {
      throw new MicrophoneError("Nothing was recorded.");
    }
    return new File([wavOf(sound.getChannelData(0), recordedRate)], "recording.wav", { type: "audio/wav" });
  }
}
