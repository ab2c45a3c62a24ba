"""Very long lines of several shapes, in the words of Claude Code."""

TEXT = "some text of a line\\n"


def reply(blocks):
    return (
        '{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"k","content":['
        + blocks
        + '],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s","uuid":"u"}\n'
    )


def results(blocks):
    return (
        '{"type":"user","message":{"role":"user","content":['
        + blocks
        + ']},"parent_tool_use_id":null,"session_id":"s","uuid":"u","timestamp":"2026-01-01T00:00:00.000Z"}\n'
    )


def many(size, element):
    """So many elements that they have this size."""
    made, left, n = [], size, 0
    while left > 0:
        made.append(element % n)
        left -= len(made[-1]) + 1
        n += 1
    return ",".join(made)


def call(name, arguments):
    return reply('{"type":"tool_use","id":"c","name":"%s","input":{%s}}' % (name, arguments))


#: What the line holds, and how it is made of a size.
SHAPES = {
    "a text": lambda size: reply('{"type":"text","text":"' + TEXT * (size // len(TEXT)) + '"}'),
    "a file that is written": lambda size: call("Write", '"file_path":"/w/a","content":"' + TEXT * (size // len(TEXT)) + '"'),
    "a list of things to do": lambda size: call(
        "TodoWrite", '"todos":[' + many(size, '{"content":"do %d","status":"pending","activeForm":"doing"}') + "]"
    ),
    "small texts": lambda size: reply(many(size, '{"type":"text","text":"text %d."}')),
    "small calls": lambda size: reply(many(size, '{"type":"tool_use","id":"c%d","name":"Bash","input":{"command":"true"}}')),
    "small results": lambda size: results(many(size, '{"tool_use_id":"c%d","type":"tool_result","content":"ok","is_error":false}')),
}
