"""Framing: what arrives is what was sent, or it is known not to be."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verikit.probes import frames

kinds = st.sampled_from(sorted(frames.KINDS))
some_frames = st.lists(st.tuples(kinds, st.integers(0, 2**32 - 1), st.binary(max_size=300)), max_size=8)


def chunked(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(places)]


@given(some_frames, st.lists(st.integers(0, 10_000)))
def test_any_chunking(sent, cuts):
    """
    Frames come out as they went in, however the stream is cut into pieces.
    """
    decoder, got = frames.Decoder(), []
    for piece in chunked(b"".join(frames.frame(*each) for each in sent), cuts):
        got += decoder.feed(piece)

    assert got == sent
    assert decoder.partial is None


@given(some_frames, st.integers(0, 10_000))
def test_cut_anywhere(sent, cut):
    """
    A stream that ends early gives the frames that were whole, and none beside them.
    """
    data = b"".join(frames.frame(*each) for each in sent)
    got = frames.Decoder().feed(data[: cut % (len(data) + 1)])

    assert got == sent[: len(got)]


def answer_in(data: bytes, request: int) -> bytes | None:
    """What the near end would take as the reply."""
    assembler = frames.Assembler()
    for kind, number, payload in frames.Decoder().feed(data):
        if number == request and kind == frames.CHUNK:
            assembler.add(payload)
        if number == request and kind == frames.END:
            return assembler.end(payload)
    return None


@given(st.binary(max_size=5000), st.data())
def test_one_byte_changed(answer, data):
    """
    A reply of which any one byte was changed is that reply, or none: never another.
    """
    sent = bytearray(frames.reply(7, answer))
    place = data.draw(st.integers(0, len(sent) - 1))
    sent[place] ^= data.draw(st.integers(1, 255))
    try:
        got = answer_in(bytes(sent), 7)
    except (frames.BadFrame, frames.BadReply):
        return

    assert got in (None, answer)


@given(st.binary(max_size=200_000), st.integers(0, 400_000))
def test_reply_cut_anywhere(answer, cut):
    """
    A reply that lacks its last bytes, however few, is no reply.
    """
    sent = frames.reply(7, answer)
    cut %= len(sent)

    assert answer_in(sent[:cut], 7) is None


@pytest.mark.parametrize("start", [b"SSH-2.0-OpenSSH_9.2\r\n", b"\xff" * 16, frames.HEAD.pack(3, 99, 1) + b"abc"])
def test_no_frame(start):
    """
    Bytes that are no frame are refused as soon as a header of them is there.
    """
    with pytest.raises(frames.BadFrame):
        frames.Decoder().feed(start)


def test_bounds():
    """
    A frame above 1 MiB and a reply above 8 MiB are refused at both ends.
    """
    with pytest.raises(ValueError, match="1048576"):
        frames.frame(frames.CHUNK, 1, bytes(frames.MAX_FRAME + 1))
    with pytest.raises(frames.BadFrame):
        frames.Decoder().feed(frames.HEAD.pack(frames.MAX_FRAME + 1, frames.CHUNK, 1))
    with pytest.raises(ValueError, match="8388608"):
        frames.reply(1, bytes(frames.MAX_REPLY + 1))
    assembler = frames.Assembler()
    for _ in range(8):
        assembler.add(bytes(frames.MAX_FRAME))
    with pytest.raises(frames.BadReply):
        assembler.add(b"1")


def test_largest_reply():
    """
    A reply of exactly 8 MiB is whole.
    """
    answer = bytes(frames.MAX_REPLY)

    assert answer_in(frames.reply(7, answer), 7) == answer
