"""Follow the states of connections by a machine that is given as a table."""
import random

import tamis

SYN, OPEN, CLOSING = range(3)
SENT_SYN, SENT_DATA, SENT_FIN, RESET = range(4)

TCP = tamis.Machine(
    {
        (tamis.ABSENT, SENT_SYN): SYN,
        (SYN, SENT_DATA): OPEN,
        (OPEN, SENT_DATA): tamis.TOUCH,
        (OPEN, SENT_FIN): CLOSING,
        (CLOSING, SENT_FIN): tamis.DROP,
        (None, RESET): tamis.DROP,
    },
    values=3,
)


def main() -> None:
    """A thousand batches of packets between random addresses, one tick after each."""
    chance = random.Random(5)
    flows = tamis.States(values=3, capacity=50_000, timeout=100)
    unknown = 0
    for _ in range(1000):
        keys = [f"10.0.{chance.randrange(200)}.{chance.randrange(200)}:443" for _ in range(100)]
        events = chance.choices([SENT_SYN, SENT_DATA, SENT_FIN, RESET], [4, 8, 2, 1], k=100)
        before, _ = flows.step(keys, events, TCP)
        unknown += int((before == tamis.UNKNOWN).sum())
        flows.tick()
    syn, is_open, closing = flows.tally()
    print(f"{len(flows)} connections in {flows.nbytes} bytes: {syn} half-open, {is_open} open, "
          f"{closing} closing; {flows.info.aged} timed out, {unknown} answers were unknown")


if __name__ == "__main__":
    main()
