"""Client libraries that know nothing of us: Debian's redis-py, and @redis/bloom in node."""
import json
import shutil
import subprocess
from pathlib import Path

import pytest
import redis

HERE = Path(__file__).resolve().parent


@pytest.fixture
def client(server):
    return redis.Redis(port=server.port)


def test_redis_py_bloom(client):
    bf = client.bf()
    assert bf.create("b", 0.01, 1000)
    with pytest.raises(redis.ResponseError, match="item exists"):
        bf.create("b", 0.01, 1000)
    assert bf.add("b", "x") == 1 and bf.add("b", "x") == 0
    assert bf.madd("b", "x", "y") == [0, 1]
    assert bf.insert("b2", ["a", "b"], capacity=100, error=0.001, noScale=True) == [1, 1]
    assert bf.exists("b", "x") == 1 and bf.mexists("b", "x", "z") == [1, 0]
    info = bf.info("b")
    assert info.capacity == 1000 and info.insertedNum == 2 and info.filterNum == 1 and info.expansionRate == 2
    assert bf.info("b2").expansionRate is None
    chunks, position = [], 0
    while True:
        position, data = bf.scandump("b", position)
        if position == 0:
            break
        chunks.append((position, data))
    for position, data in chunks:
        assert bf.loadchunk("copy", position, data)
    assert bf.mexists("copy", "x", "y", "z") == [1, 1, 0]


def test_redis_py_cuckoo(client):
    cf = client.cf()
    assert cf.create("c", 1000, expansion=1, bucket_size=4, max_iterations=5)
    assert cf.add("c", "x") == 1 and cf.addnx("c", "x") == 0
    assert cf.insert("c", ["x", "y"]) == [1, 1] and cf.insertnx("c", ["x", "z"]) == [0, 1]
    assert cf.exists("c", "x") == 1 and cf.count("c", "x") == 2 and cf.delete("c", "x") == 1
    assert cf.mexists("c", "x", "none") == [1, 0]
    info = cf.info("c")
    assert info.bucketSize == 4 and info.insertedNum == 4 - 1 + 0 and info.deletedNum == 1
    chunks, position = [], 0
    while True:
        position, data = cf.scandump("c", position)
        if position == 0:
            assert data is None
            break
        chunks.append((position, data))
    for position, data in chunks:
        assert cf.loadchunk("copy", position, data)
    assert cf.count("copy", "x") == 1
    with pytest.raises(redis.ResponseError, match="Not found"):
        cf.delete("none", "x")


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [2, 3])
def test_node(server, protocol):
    assert shutil.which("node"), "node is not installed: scripts/setup redis-node"
    done = subprocess.run(["node", HERE / "node-client.mjs", str(server.port), str(protocol)], capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["checks"] >= 30
