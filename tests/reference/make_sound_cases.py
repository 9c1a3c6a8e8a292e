"""Writes tests/data/data/sound_cases.json and the small files of tests/fuzz/sound.

Run from the root of the repository with any Python that has numpy, kaldi-native-fbank, kaldiio and soundfile. The cases
are features as Kaldi computes them (through kaldi-native-fbank) of signals that a formula gives; of each matrix some
rows are kept. The files are one short tone in every container, and one matrix in every format of features.
"""

import json
import math
import pathlib
import struct

import kaldi_native_fbank as knf
import kaldiio
import numpy
import soundfile

CASES = pathlib.Path("tests/data/data/sound_cases.json")
FILES = pathlib.Path("tests/fuzz/sound")


def chirp(rate, count):
    """A tone and one that rises, in whole numbers of 16 bits, with noise.

    Where a band has hardly any power, Kaldi's single precision shows, and the cosine transform multiplies it.
    """
    samples, state = [], 1
    for n in range(count):
        t = n / rate
        x = 8000 * math.sin(2 * math.pi * 440 * t) + 4000 * math.sin(2 * math.pi * (200 * t + 3000 * t * t))
        state = (1103515245 * state + 12345) % 2**31
        samples.append(math.floor(x + state % 2000 - 1000 + 0.5))
    return samples


def features(kind, rate, count, bins, cepstra, energy):
    options = knf.FbankOptions() if kind == "mel" else knf.MfccOptions()
    options.frame_opts.samp_freq = rate
    options.frame_opts.dither = 0
    options.mel_opts.num_bins = bins
    options.use_energy = energy
    if kind == "mfcc":
        options.num_ceps = cepstra
    computer = knf.OnlineFbank(options) if kind == "mel" else knf.OnlineMfcc(options)
    computer.accept_waveform(rate, [float(x) for x in chirp(rate, count)])
    computer.input_finished()
    rows = [computer.get_frame(i) for i in range(computer.num_frames_ready)]
    kept = sorted({0, 1, len(rows) // 2, len(rows) - 1})
    return {
        "kind": kind, "rate": rate, "count": count, "filters": bins, "cepstra": cepstra, "energy": energy,
        "frames": len(rows),
        "rows": {str(i): [round(float(x), 4) for x in rows[i]] for i in kept},
    }


def spectra():
    cases = [
        features("mel", 16000, 8000, 40, 0, False),
        features("mel", 16000, 8000, 40, 0, True),
        features("mel", 8000, 4100, 23, 0, True),
        features("mel", 44100, 22050, 80, 0, False),
        features("mfcc", 16000, 8000, 23, 13, True),
        features("mfcc", 16000, 8000, 40, 13, False),
        features("mfcc", 8000, 4000, 23, 20, True),
    ]
    return cases


def write_files():
    """Gives the numbers of each archive as kaldiio reads them."""
    FILES.mkdir(exist_ok=True)
    for old in FILES.iterdir():
        old.unlink()

    def tone(rate, seconds, channels=1):
        t = numpy.arange(int(rate * seconds)) / rate
        sounds = [0.5 * numpy.sin(2 * numpy.pi * 440 * (c + 1) * t) for c in range(channels)]
        return numpy.stack(sounds, 1)

    for name, rate, seconds, channels, kind, subtype in [
        ("tone.wav", 16000, 0.1, 1, "WAV", "PCM_16"),
        ("eight_bits.wav", 4000, 0.1, 1, "WAV", "PCM_U8"),
        ("stereo.wav", 8000, 0.1, 2, "WAV", "PCM_24"),
        ("float.wav", 8000, 0.05, 1, "WAV", "FLOAT"),
        ("tone.aiff", 8000, 0.05, 1, "AIFF", "PCM_16"),
        ("tone.flac", 16000, 0.1, 1, "FLAC", "PCM_16"),
        ("tone.ogg", 16000, 0.1, 1, "OGG", "VORBIS"),
        ("tone.opus", 16000, 0.1, 1, "OGG", "OPUS"),
        ("tone.mp3", 16000, 0.1, 1, "MP3", "MPEG_LAYER_III"),
    ]:
        soundfile.write(FILES / name, tone(rate, seconds, channels), rate, format=kind, subtype=subtype)

    matrix = numpy.array([[(3 * r + c) % 7 - 2.5 + 0.25 * c for c in range(13)] for r in range(9)], dtype=numpy.float32)
    numpy.save(FILES / "rows.npy", matrix)
    numpy.save(FILES / "columns.npy", numpy.asfortranarray(matrix.astype(numpy.float64)))
    numpy.save(FILES / "swapped.npy", matrix.astype(">f4"))
    (FILES / "big.mfc").write_bytes(struct.pack(">i", matrix.size) + matrix.astype(">f4").tobytes())
    (FILES / "little.mfc").write_bytes(struct.pack("<i", matrix.size) + matrix.astype("<f4").tobytes())
    decoded = {}
    for name, value, options in [
        ("float.ark", matrix, {}),
        ("double.ark", matrix.astype(numpy.float64), {}),
        ("text.ark", matrix, {"text": True}),
        ("columns.ark", matrix, {"compression_method": 2}),
        ("two_bytes.ark", matrix, {"compression_method": 3}),
        ("one_byte.ark", matrix, {"compression_method": 5}),
    ]:
        kaldiio.save_ark(str(FILES / name), {"utt1": value}, **options)
        if "text" in options:  # a house rule: no line of a text ends with a space
            (FILES / name).write_text((FILES / name).read_text().replace(" \n", "\n"))
        loaded = dict(kaldiio.load_ark(str(FILES / name)))["utt1"]
        decoded[name] = [round(float(x), 5) for x in loaded.reshape(-1)]
    return decoded


CASES.parent.mkdir(exist_ok=True)
rows = ",\n".join(json.dumps(case) for case in spectra())
archives = "".join(f',\n"{name}": {json.dumps(numbers)}' for name, numbers in write_files().items())
CASES.write_text(f'{{\n"features": [\n{rows}\n]{archives}\n}}\n')
