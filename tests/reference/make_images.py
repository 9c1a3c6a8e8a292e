"""Writes tests/fuzz/image: small pictures of every kind, from which the fuzzer starts and which the tests read.

Run from the root of the repository with any Python that has Pillow 10 or newer and NumPy. Every upright picture shows
the same 12 × 8 pixels: red grows to the right, green downwards, blue is 0.2; `turned` pictures are stored so that their
EXIF orientation makes them that.
"""

import pathlib

import numpy
from PIL import Image

FOLDER = pathlib.Path("tests/fuzz/image")
WIDTH, HEIGHT = 12, 8
TURNS = {2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE", 6: "ROTATE_90", 7: "TRANSVERSE",
         8: "ROTATE_270"}


def exif(orientation):
    tags = Image.Exif()
    tags[0x0112] = orientation
    return tags.tobytes()


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    red, green = numpy.meshgrid(numpy.arange(WIDTH) / (WIDTH - 1), numpy.arange(HEIGHT) / (HEIGHT - 1))
    pixels = numpy.stack([red, green, numpy.full_like(red, 0.2)], axis=2)
    colour = Image.fromarray(numpy.rint(pixels * 255).astype(numpy.uint8))
    best = {"quality": 98, "subsampling": 0}

    colour.save(FOLDER / "colour.jpg", **best)
    colour.save(FOLDER / "progressive.jpg", progressive=True, **best)
    colour.convert("L").save(FOLDER / "grey.jpg", **best)
    colour.convert("CMYK").save(FOLDER / "ink.jpg", **best)
    for orientation, turn in TURNS.items():
        colour.transpose(Image.Transpose[turn]).save(FOLDER / f"turned{orientation}.jpg", exif=exif(orientation), **best)

    colour.save(FOLDER / "colour.png")
    colour.convert("L").save(FOLDER / "grey.png")
    colour.convert("1").save(FOLDER / "two.png")
    colour.quantize(64).save(FOLDER / "palette.png")
    Image.fromarray(numpy.rint(green * 65535).astype(numpy.uint16)).save(FOLDER / "deep.png")
    colour.transpose(Image.Transpose.ROTATE_90).save(FOLDER / "turned6.png", exif=exif(6))
    clear = colour.convert("RGBA")
    clear.putalpha(Image.fromarray(numpy.where(red < 0.5, 255, 51).astype(numpy.uint8)))
    clear.save(FOLDER / "clear.png")

    colour.save(FOLDER / "colour.webp", quality=95)
    colour.save(FOLDER / "lossless.webp", lossless=True)
    clear.save(FOLDER / "clear.webp", lossless=True, exact=True)
    colour.transpose(Image.Transpose.ROTATE_90).save(FOLDER / "turned6.webp", lossless=True, exif=exif(6))
    colour.save(FOLDER / "animated.webp", save_all=True, append_images=[colour.transpose(Image.Transpose.ROTATE_180)],
                lossless=True, duration=100)


if __name__ == "__main__":
    main()
