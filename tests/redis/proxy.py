"""A node that a test can let go wrong: it forwards commands to a real server, except those the test answers."""
import socket
import threading

from server import Error, Simple, Wire


def encode(reply):
    if isinstance(reply, list):
        return b"*%d\r\n" % len(reply) + b"".join(map(encode, reply))
    if reply is None:
        return b"$-1\r\n"
    if isinstance(reply, bytes):
        return b"$%d\r\n%b\r\n" % (len(reply), reply)
    mark = b"-" if isinstance(reply, Error) else b"+" if isinstance(reply, Simple) else b":"
    return b"%b%b\r\n" % (mark, str(reply).encode())


class Caller(Wire):
    """The other end of a connection that somebody else has opened."""

    def __init__(self, accepted):  # pylint: disable=super-init-not-called
        self.socket = accepted
        self.file = accepted.makefile("rb")


class Proxy:
    """answer(words, connection) gives a reply; or NotImplemented: the real server replies; or it raises
    ConnectionError: the connection is closed. Connections count from 0; words are bytes."""

    def __init__(self, real_port, answer):
        self.real_port, self.answer = real_port, answer
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        for n in range(1000):
            try:
                accepted = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.serve, args=(accepted, n), daemon=True).start()

    def serve(self, accepted, n):
        caller, real = Caller(accepted), Wire(self.real_port)
        try:
            while True:
                words = caller.read()
                with self.lock:
                    reply = self.answer(words, n)
                accepted.sendall(encode(real(*words) if reply is NotImplemented else reply))
        except OSError:
            caller.close()
            real.close()

    def is_alive(self):
        return True

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.listener.close()
