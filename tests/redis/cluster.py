"""A cluster of three masters and three replicas on loopback, for a test."""
import os
import socket
import subprocess

from server import Server, until

TOOL = os.path.join(os.environ["TAMIS_BUILD"], "tamis")
SLOTS = 16384


def two_free_ports():
    """A port whose bus port, 10000 further, is free, too."""
    for _ in range(1000):
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            if port + 10000 > 65535:
                continue
            try:
                second.bind(("127.0.0.1", port + 10000))
            except OSError:
                continue
            return port
    raise RuntimeError("no free ports")


class Node(Server):
    """A server in cluster mode. It keeps its port: others know it by that."""

    def __init__(self):
        self.fixed_port = None
        super().__init__(cluster_enabled="yes", cluster_config_file="nodes.conf", cluster_node_timeout=2000,
                         cluster_replica_validity_factor=0, appendonly="no",
                         repl_ping_replica_period=1)

    def pick_port(self):
        self.fixed_port = self.fixed_port or two_free_ports()
        return self.fixed_port

    def identity(self):
        wire = self.wire()
        name = wire("CLUSTER", "MYID").decode()
        wire.close()
        return name


class Cluster:
    """Masters 0, 1, 2 with a third of the slots each; replicas 3, 4, 5 of them."""

    def __init__(self):
        self.nodes = [Node() for _ in range(6)]
        first = self.nodes[0]
        for i in range(3):
            wire = self.nodes[i].wire()
            begin, end = SLOTS * i // 3, SLOTS * (i + 1) // 3 - 1
            assert wire("CLUSTER", "ADDSLOTSRANGE", begin, end) == "OK"
            assert wire("CLUSTER", "SET-CONFIG-EPOCH", i + 1) == "OK"
            wire.close()
        for one in self.nodes[1:]:
            wire = one.wire()
            wire("CLUSTER", "MEET", "127.0.0.1", first.port)
            wire.close()
        until(lambda: all(self.known(one) == 6 for one in self.nodes), 60)
        for i in range(3):
            wire = self.nodes[3 + i].wire()
            name = self.nodes[i].identity()
            until(lambda wire=wire, name=name: wire("CLUSTER", "REPLICATE", name) == "OK")
            wire.close()
        until(self.is_well, 60)

    @staticmethod
    def info(one, section):
        wire = one.wire()
        text = wire("CLUSTER", "INFO") if section == "cluster" else wire("INFO", section)
        wire.close()
        return dict(line.split(":", 1) for line in text.decode().split("\r\n") if ":" in line)

    def known(self, one):
        return int(self.info(one, "cluster")["cluster_known_nodes"])

    def is_well(self):
        alive = [one for one in self.nodes if one.is_alive()]
        if not all(self.info(one, "cluster")["cluster_state"] == "ok" for one in alive):
            return False
        return all(self.info(one, "replication").get("master_link_status", "up") == "up" for one in alive)

    def masters(self):
        return [one for one in self.nodes if one.is_alive() and self.info(one, "replication")["role"] == "master"]

    def address(self):
        return f"127.0.0.1:{next(one.port for one in self.nodes if one.is_alive())}"

    def tool(self, *words, keys=None, code=0):
        """Run tamis redis ACTION; keys are lines of its input."""
        text = None if keys is None else "".join(f"{key}\n" for key in keys)
        action, *rest = words
        # With an error, the tool ends where it is. What it has not freed then is no leak.
        environment = os.environ if code == 0 else {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
        result = subprocess.run([TOOL, "redis", action, "--cluster", self.address(), *map(str, rest)], env=environment,
                                input=text, capture_output=True, text=True, timeout=120, check=False)
        assert code is None or result.returncode == code, result.stderr
        return result

    def start_tool(self, *words):
        action, *rest = words
        return subprocess.Popen([TOOL, "redis", action, "--cluster", self.address(), *map(str, rest)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def owner(self, slot):
        wire = self.masters()[0].wire()
        ranges = wire("CLUSTER", "SLOTS")
        wire.close()
        port = next(r[2][1] for r in ranges if r[0] <= slot <= r[1])
        return next(one for one in self.nodes if one.port == port)

    def close(self):
        for one in self.nodes:
            one.close()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()

