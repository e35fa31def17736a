"""Writes small, valid MP4 files, so that tests upload real media without carrying any."""

import struct


def box(kind, *parts):
    body = b"".join(parts)
    return struct.pack(">I4s", 8 + len(body), kind) + body


def full(kind, *parts, version=0, flags=0):
    return box(kind, struct.pack(">I", version << 24 | flags), *parts)


MATRIX = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)


def mp4(seconds=12, width=1280, height=720, payload=4096):
    """A movie of one H.264 track with the given length and size; its samples are `payload` bytes of nothing."""
    scale = 1000
    ticks = seconds * scale
    movie_header = full(
        b"mvhd", struct.pack(">IIIIIH10x", 0, 0, scale, ticks, 0x10000, 0x0100), MATRIX, bytes(24), struct.pack(">I", 2)
    )
    track_header = full(
        b"tkhd",
        struct.pack(">IIIII8xHHHH", 0, 0, 1, 0, ticks, 0, 0, 0, 0),
        MATRIX,
        struct.pack(">II", width << 16, height << 16),
        flags=7,
    )
    media_header = full(b"mdhd", struct.pack(">IIIIHH", 0, 0, scale, ticks, 0x55C4, 0))
    handler = full(b"hdlr", struct.pack(">I4s12x", 0, b"vide"), b"video\0")
    codec = box(b"avcC", bytes([1, 0x64, 0, 0x1F, 0xFF, 0xE0, 0]))
    entry = box(
        b"avc1",
        struct.pack(">6xH16xHHIIIH32xHh", 1, width, height, 0x480000, 0x480000, 0, 1, 24, -1),
        codec,
    )
    file_type = box(b"ftyp", b"isom", struct.pack(">I", 512), b"isomiso2avc1mp41")
    sizes = full(b"stsz", struct.pack(">II", payload, 1))

    def movie(offset):
        table = box(
            b"stbl",
            full(b"stsd", struct.pack(">I", 1), entry),
            full(b"stts", struct.pack(">III", 1, 1, ticks)),
            full(b"stsc", struct.pack(">IIII", 1, 1, 1, 1)),
            sizes,
            full(b"stco", struct.pack(">II", 1, offset)),
        )
        data = box(b"dinf", full(b"dref", struct.pack(">I", 1), full(b"url ", flags=1)))
        information = box(b"minf", full(b"vmhd", bytes(8), flags=1), data, table)
        return box(b"moov", movie_header, box(b"trak", track_header, box(b"mdia", media_header, handler, information)))

    offset = len(file_type) + len(movie(0)) + 8
    return file_type + movie(offset) + box(b"mdat", bytes(payload))
