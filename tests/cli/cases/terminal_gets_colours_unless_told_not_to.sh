. "$CLI_TESTS/helpers.sh"
python3 - <<'END'
import os, pty, sys
def on_terminal(command, environment):
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(command[0], command, dict(os.environ, **environment))
    seen = b""
    try:
        while chunk := os.read(terminal, 4096):
            seen += chunk
    except OSError:
        pass
    os.waitpid(child, 0)
    return seen
plan = ["tamis", "plan", "-n", "1000"]
assert b"\033[1m* " in on_terminal(plan, {}), "no colours"
assert b"\033" not in on_terminal(plan, {"NO_COLOR": "1"}), "NO_COLOR"
assert b"\033" not in on_terminal(plan, {"TERM": "dumb"}), "dumb"
END
tamis plan -n 1000 >piped
fails grep "$(printf '\033')" piped
