"""Conversion: whatever a log is given as, the same bytes as the command."""

import asyncio
import gzip
import io
import json
import subprocess

import pytest
from conftest import GOLDEN

import agentglot

CURSOR = b'{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s"}\n'


def command(*args, **more):
    return subprocess.run(["agentglot", *map(str, args)], capture_output=True, **more)


def in_pieces(bytes_, size=777):
    return (bytes_[at : at + size] for at in range(0, len(bytes_), size))


def test_every_kind_of_log_gives_what_the_command_gives(log, tmp_path):
    expected = command("convert", "--to", "cursor", log).stdout
    assert expected.count(b"\n") > 5
    bytes_ = log.read_bytes()
    zipped = tmp_path / "log.jsonl.gz"
    zipped.write_bytes(gzip.compress(bytes_))
    for src in (str(log), log, bytes_, bytearray(bytes_), memoryview(bytes_), io.BytesIO(bytes_), in_pieces(bytes_), list(in_pieces(bytes_)), zipped):
        assert agentglot.convert(src, to="cursor") == expected
    with open(log, "rb") as file:
        assert agentglot.convert(file, to="cursor") == expected
    for src in (log, bytes_, in_pieces(bytes_)):
        assert b"".join(agentglot.convert_stream(src, to="cursor")) == expected


def test_options_are_those_of_the_command(log):
    for flags, options in (
        (["--include-partial-messages"], {"partial": True}),
        (["--tools", "verbatim"], {"tools": "verbatim"}),
        (["--prompt", "Read", "--from", "claude"], {"prompts": ["Read"], "from_": "claude"}),
        (["--max-line", "2000"], {"max_line": 2000, "on_damage": "ignore"}),
    ):
        assert agentglot.convert(log, to="cursor", **options) == command("convert", "--to", "cursor", *flags, log).stdout
    with pytest.raises(TypeError, match="'colour'"):
        agentglot.convert(log, to="cursor", colour=True)


def test_a_live_stream_gives_each_line_when_it_is_there(log):
    lines = log.read_bytes().splitlines(keepends=True)
    read = 0

    def live():
        nonlocal read
        for line in lines:
            read += 1
            yield line

    first = next(agentglot.convert_stream(live(), to="agentglot"))
    assert first and read < 5
    with agentglot.Converter(to="cursor", ledger=True) as converter:
        out = b"".join(map(converter.feed, lines)) + converter.finish()
        assert converter.finish() == b""
        assert converter.format == "claude" and converter.lines == len(lines)
        entries = converter.take_ledger()
    assert out == agentglot.convert(log, to="cursor")
    assert {"line", "pointer", "fate"} <= entries[0].keys()
    with pytest.raises(ValueError):
        converter.feed(b"x")


def test_asynchronous_streams(log):
    bytes_ = log.read_bytes()

    async def pieces():
        for piece in in_pieces(bytes_):
            await asyncio.sleep(0)
            yield piece

    async def run():
        reader = asyncio.StreamReader()
        reader.feed_data(bytes_)
        reader.feed_eof()
        converted = [piece async for piece in agentglot.aconvert(pieces(), to="cursor")]
        streamed = [piece async for piece in agentglot.aconvert(reader, to="cursor")]
        return converted, streamed, [event async for event in agentglot.aevents(pieces())]

    converted, streamed, events = asyncio.run(run())
    assert b"".join(converted) == b"".join(streamed) == agentglot.convert(log, to="cursor")
    assert events == list(agentglot.events(log))


def test_files_and_folders(log, tmp_path):
    (tmp_path / "logs" / "below").mkdir(parents=True)
    (tmp_path / "logs" / "a.jsonl").write_bytes(log.read_bytes())
    (tmp_path / "logs" / "below" / "b.jsonl.gz").write_bytes(gzip.compress(log.read_bytes() + b"{broken\n"))
    (tmp_path / "logs" / "c.jsonl").write_bytes(b"\x00\xff nothing\n")
    came = agentglot.convert_files([tmp_path / "logs"], to="tricode", output=tmp_path / "out")
    by_name = {one.log.rsplit("/", 1)[1]: one for one in came}
    assert by_name["a.jsonl"].from_ == "claude" and not by_name["a.jsonl"].damage
    assert [damage.line for damage in by_name["b.jsonl.gz"].damage] == [log.read_bytes().count(b"\n") + 1]
    assert by_name["c.jsonl"].error and by_name["c.jsonl"].from_ is None
    for one in came:
        if one.error is None:
            assert open(one.output, "rb").read()
    assert agentglot.convert_files([], to="tricode", output=tmp_path / "out") == []

    done = agentglot.convert_file(log, tmp_path / "one.jsonl.gz", to="cursor", ledger=tmp_path / "ledger.jsonl")
    assert gzip.open(tmp_path / "one.jsonl.gz").read() == agentglot.convert(log, to="cursor")
    assert done.lines and (tmp_path / "ledger.jsonl").read_bytes()
    with pytest.raises(agentglot.UsageError):
        agentglot.convert_file(log, log, to="cursor")
    assert log.read_bytes()


def test_what_is_told_of_whole_logs(log):
    found = agentglot.detect(log)
    assert found.format == "claude" and "line 1" in found.why
    assert agentglot.detect(log.read_bytes()) == agentglot.detect(io.BytesIO(log.read_bytes())) == found
    assert agentglot.detect(b" \n") is None
    assert agentglot.check(log) == []
    findings = agentglot.check(CURSOR + b"{broken\n", from_="cursor", level="error")
    assert ("damaged-line", 2, "error") in [(finding.rule, finding.line, finding.level) for finding in findings]
    counted = agentglot.stats(log, by="model")
    assert counted["by"] == "model" and counted["total"]["turns"] == 1
    assert counted == json.loads(command("stats", "--json", "--by", "model", log).stdout)
    assert agentglot.stats([log, log])["total"] == agentglot.stats(log.read_bytes())["total"]
    assert "claude" in agentglot.formats() and "openai:sse" not in agentglot.formats(written=True)


def test_what_no_log_says_of_money_a_table_of_prices_does(log, tmp_path):
    unpriced = GOLDEN / "gemini" / "todo.out.jsonl"
    assert agentglot.stats(unpriced)["total"]["cost_usd"] > 0
    prices = tmp_path / "prices.toml"
    prices.write_text('[[model]]\nname = "gemini-"\ninput_price = 1e6\noutput_price = 0.0\ncache_read_price = 0.0\n')
    counted = agentglot.stats(unpriced, prices=prices)
    assert counted["total"]["cost_usd"] == counted["total"]["input"] and "prices.toml" in counted["prices"]
    with pytest.raises(agentglot.AgentglotError):
        agentglot.stats(unpriced, prices=log)


def test_the_command_is_there(log):
    version = command("--version")
    assert version.returncode == 0 and agentglot.__version__.encode() in version.stdout
    assert command("convert", "--to", "cursor", "no such file").returncode == 3
    assert command("doctor").stdout, "the program has its agents"
    # Whoever closes the pipe ends it, in silence.
    ended = subprocess.run(["sh", "-c", f"agentglot convert --to agentglot '{log}' | head -n 1"], capture_output=True)
    assert ended.stderr == b"" or b"claude" in ended.stderr
