"""run.py SCRATCH PROGRAM ARGUMENTS…: a client under test, in a world of its own.

Starts the scripted model, makes a home and a workspace below SCRATCH, and runs the client with nothing but them in its environment.
Where a network namespace was made around us, only its loopback interface is up.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys

import model


def loopback_up():
    """A new namespace has the interface, but down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name = struct.pack("16sH22x", b"lo", 0)
        flags = struct.unpack("16sH22x", fcntl.ioctl(any_socket, 0x8913, name))[1]
        if not flags & 1:
            fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH22x", b"lo", flags | 1))


def main():
    scratch, *command = sys.argv[1:]
    if sys.platform == "linux":
        loopback_up()
    url = model.start()
    home, workspace = os.path.join(scratch, "home"), os.path.join(scratch, "workspace")
    os.makedirs(os.path.join(home, ".qwen"), exist_ok=True)
    os.makedirs(workspace, exist_ok=True)
    with open(os.path.join(home, ".qwen", "settings.json"), "w") as settings:
        # Qwen Code calls the model once more after each turn unless it is told not to.
        settings.write('{"telemetry":{"enabled":false},"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false},'
                       '"memory":{"enableManagedAutoMemory":false},"security":{"auth":{"selectedType":"openai"}}}')
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL") or name.startswith("TEST_")}
    env = {
        **kept,
        "HOME": home,
        "TMPDIR": scratch,
        "WORKSPACE": workspace,
        "MODEL_URL": url,
        "NO_COLOR": "1",
        "NO_PROXY": "127.0.0.1",
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "key-of-nobody",
        "OPENAI_BASE_URL": url + "/v1",
        "OPENAI_API_KEY": "key-of-nobody",
        "OPENAI_MODEL": "scripted",
        "CURSOR_API_KEY": "key-of-nobody",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    sys.exit(subprocess.run(command, env=env, cwd=workspace, check=False).returncode)


main()
