"""A redis-server of our own for a test, and a client that shows what is on the wire."""
import os
import shutil
import socket
import subprocess
import tempfile
import time

MODULE = os.environ["TAMIS_REDIS_MODULE"]
PROGRAM = os.environ.get("TAMIS_REDIS_SERVER", "redis-server")  # or valkey-server


def sanitizer_environment():
    """A module with a sanitizer needs its runtime in the server, before the server's own allocator."""
    with open(MODULE, "rb") as file:
        module = file.read()
    name = next((name for name in ("asan", "tsan") if f"__{name}_init".encode() in module), None)
    if name is None:
        return None
    runtime = subprocess.run(["gcc", f"-print-file-name=lib{name}.so"], capture_output=True, text=True, check=True)
    return dict(os.environ, LD_PRELOAD=os.path.realpath(runtime.stdout.strip()), ASAN_OPTIONS="detect_leaks=0")


class Error(str):
    """An error reply, without its minus sign."""


class Simple(str):
    """A simple string; a bulk string is bytes."""


class Wire:
    """RESP2 or RESP3, one reply at a time, nothing hidden."""

    def __init__(self, port, protocol=2):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb", buffering=1 << 16)
        if protocol == 3:
            self("HELLO", 3)

    @staticmethod
    def pack(*words):
        out = [b"*%d\r\n" % len(words)]
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode()
            out.append(b"$%d\r\n%b\r\n" % (len(data), data))
        return b"".join(out)

    def __call__(self, *words):
        self.socket.sendall(self.pack(*words))
        return self.read()

    def many(self, commands):
        """Pipelined."""
        commands = list(commands)
        for at in range(0, len(commands), 1000):
            self.socket.sendall(b"".join(self.pack(*words) for words in commands[at:at + 1000]))
            for _ in commands[at:at + 1000]:
                yield self.read()

    def read(self):
        line = self.file.readline()
        if not line:
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return Simple(rest.decode())
        if kind == b"-":
            return Error(rest.decode())
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        if kind == b"#":
            return rest == b"t"
        if kind == b"_":
            return None
        if kind == b",":
            return float(rest)
        if kind == b"%":
            return {self.read(): self.read() for _ in range(int(rest))}
        raise ValueError(f"unknown reply {line!r}")

    def close(self):
        self.file.close()
        self.socket.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server on loopback, in a folder of its own. Options as in redis.conf: save="", appendonly="yes"."""

    def __init__(self, module_args=(), **options):
        self.folder = tempfile.mkdtemp(prefix="tamis-redis-")
        self.module_args = ["fixed-seed", 20, *module_args]  # or a test in a thousand would meet a false positive
        self.options = {"save": "", "enable-debug-command": "local", "repl-diskless-sync-delay": 0, **options}
        self.process = None
        self.start()

    def pick_port(self):
        return free_port()

    def start(self):
        for _ in range(5):  # somebody else may take the port first
            self.port = self.pick_port()
            words = [PROGRAM, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder,
                     "--logfile", self.log_path()]
            for name, value in self.options.items():
                words += ["--" + name.replace("_", "-"), *str(value).split(" ")] if value != "" else ["--" + name, ""]
            words += ["--loadmodule", MODULE, *map(str, self.module_args)]
            with open(os.path.join(self.folder, "stderr"), "ab") as errors:
                self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=errors,
                                                env=sanitizer_environment())
            if self.wait():
                return
        raise RuntimeError("the server does not start:\n" + self.log())

    def wait(self):
        for _ in range(600):
            if self.process.poll() is not None:
                return False
            try:
                wire = Wire(self.port)
                reply = wire("PING")
                wire.close()
                if reply == "PONG":
                    return True
            except OSError:
                pass
            time.sleep(0.02)
        return False

    def log_path(self):
        return os.path.join(self.folder, "log")

    def log(self):
        with open(self.log_path(), encoding="utf-8", errors="replace") as file:
            return file.read()

    def wire(self, protocol=2):
        return Wire(self.port, protocol)

    def is_alive(self):
        return self.process.poll() is None

    def stop(self, kill=False):
        """End the process, keep the folder."""
        if self.process is not None and self.is_alive():
            self.process.kill() if kill else self.process.terminate()
            self.process.wait(timeout=60)

    def restart(self, kill=False):
        self.stop(kill)
        self.start()

    def close(self):
        self.stop()
        with open(os.path.join(self.folder, "stderr"), encoding="utf-8", errors="replace") as file:
            errors = file.read()
        shutil.rmtree(self.folder, ignore_errors=True)
        assert "ThreadSanitizer" not in errors, errors

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()


def until(condition, seconds=30):
    """Wait for something that must happen soon."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")
