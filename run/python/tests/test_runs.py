"""Runs: figures, settings, errors, threads, Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import heddle

# A message of 8 bytes under the default parameters: L + 2 o + 7 G, in picoseconds.
ONE_MESSAGE = 2_500_000 + 2 * 1_500_000 + 7 * 6_000


def test_a_message_takes_what_the_model_says():
    schedule = heddle.Schedule(2)
    schedule[0].send(1, 8)
    schedule[1].recv(0, 8)
    result = heddle.run(schedule)
    assert result.summary["makespan_ps"] == ONE_MESSAGE
    assert result.makespan == pytest.approx(5.542e-6, rel=1e-9)
    assert result.ranks["finish_ps"] == [1_500_000, ONE_MESSAGE]
    assert result.critical_path["latency"] == pytest.approx(2.5e-6)


def test_the_schedule_of_the_tutorial():
    # The book works 47.626 us out by hand.
    schedule = heddle.Schedule(4)
    zero, one, two, three = (schedule[rank] for rank in range(4))
    pair = zero.recv(one, 8, after=zero.calc(20_000))
    rest = zero.recv(two, 8, after=pair)
    zero.send(three, 8, tag=1, after=rest)
    one.send(zero, 8, after=one.calc(20_000))
    pair = two.recv(three, 8, after=two.calc(35_000))
    two.send(zero, 8, after=pair)
    three.send(two, 8, after=three.calc(20_000))
    three.recv(zero, 8, tag=1)
    assert heddle.run(schedule).summary["makespan_ps"] == 47_626_000


def test_schedules_refuse_what_cannot_be():
    schedule = heddle.Schedule(2)
    work = schedule[0].calc(1)
    with pytest.raises(ValueError, match="rank 2 of a schedule with 2 ranks"):
        schedule[0].send(2, 8)
    with pytest.raises(ValueError, match="cannot wait for an operation of rank 0"):
        schedule[1].calc(1, after=work)
    with pytest.raises(ValueError, match="between 0 and"):
        schedule[0].calc(-1)


def test_wildcards_and_deadlocks():
    schedule = heddle.Schedule(2)
    schedule[0].send(1, 8, tag=7)
    schedule[1].recv(None, 8, tag=None)
    assert heddle.run(schedule).summary["makespan_ps"] == ONE_MESSAGE
    stuck = heddle.Schedule(2)
    stuck[0].recv(1, 8)
    result = heddle.run(stuck)
    assert result.makespan is None
    assert result.deadlock["pending"][0]["rank"] == 0
    with pytest.raises(ValueError, match="never finish"):
        result.plot_critical_path()


def test_machines_flags_and_settings():
    def makespan(**keywords):
        result = heddle.run("pattern:gather", ranks=2, size="8B", **keywords)
        return result.summary["makespan_ps"]

    assert makespan() == ONE_MESSAGE
    faster = ONE_MESSAGE - 1_500_000
    assert makespan(settings={"loggops.L": "1 us"}) == faster
    assert makespan(settings={"loggops": {"L": "1 us"}}) == faster
    assert makespan(machine=heddle.Machine(loggops={"L": "1 us"})) == faster
    assert makespan(machine={"loggops": {"L": "1 us"}}) == faster
    # What is said of the run goes before what the machine says.
    machine = heddle.Machine(loggops={"L": "9 us"})
    assert makespan(machine=machine, settings={"loggops.L": "1 us"}) == faster
    torus = heddle.Topology("torus", dims=(2, 2))
    assert torus.hosts == 4
    assert "<svg" in torus.svg()
    one = heddle.run("pattern:gather", ranks=4, topology=torus)
    other = heddle.run("pattern:gather", ranks=4, topology="torus:dims=2x2")
    assert one.summary == other.summary
    assert one.summary["signals"] > 0


def test_errors_have_the_text_of_the_command():
    with pytest.raises(heddle.Error, match="missing.goal"):
        heddle.run("missing.goal")
    with pytest.raises(heddle.Error, match="did you mean") as caught:
        heddle.run("pattern:gather", settings={"loggops.LL": "1 us", "loggops.o": "1"})
    # Both mistakes are reported at once.
    assert "loggops.o" in str(caught.value)
    with pytest.raises(TypeError, match="`rank`; did you mean `ranks`"):
        heddle.run("pattern:gather", rank=2)
    with pytest.raises(ValueError, match="`message` is kept in memory; did you mean `messages`"):
        heddle.run("pattern:gather", tables=["message"])
    with pytest.raises(heddle.Error, match="needs the command"):
        environment = os.environ.pop("PATH")
        try:
            heddle.run("program:./app", ranks=2)
        finally:
            os.environ["PATH"] = environment
    with pytest.raises(heddle.Error, match="there is no column `operation`"):
        heddle.fit(__file__)


def test_traffic():
    # Little is measured, as nothing depends on how well.
    quick = {"precision": 0.5, "batches": 10, "length": "64B", "batch": "5us"}
    traffic = heddle.Traffic("uniform", load="0.1:0.3:0.1", **quick)
    result = heddle.run(traffic, topology="torus:dims=2x2", network="packet")
    assert result.points["load"] == pytest.approx([0.1, 0.2, 0.3])
    assert all(latency > 0 for latency in result.points["latency_mean_ps"])
    assert result.makespan is None


def test_a_ladder():
    found = heddle.ladder("pattern:gather", ranks=4, topology="star:hosts=4")
    assert found.makespans["no network"] == 0
    assert found.makespans["infiniband"] > 0
    assert "loggops" in found.missing


def test_a_folder_is_read(tmp_path):
    written = heddle.run(
        "pattern:linear-alltoall", ranks=4, output=tmp_path / "out", tables=["messages"]
    )
    assert len(written.messages) == 12
    read = heddle.read(tmp_path / "out")
    assert read.summary == written.summary
    assert read.tables == ["messages"]
    assert read.messages["size"] == written.messages["size"]
    with pytest.raises(AttributeError, match="no table 'lanes'"):
        read.lanes
    with pytest.raises(heddle.Error, match="not the folder of a run"):
        heddle.read(tmp_path)


def test_two_threads_run_at_once():
    """Each gets its own results, and neither waits for the other to end."""
    expected = {ranks: heddle.run("pattern:dissemination", ranks=ranks).summary
                for ranks in (64, 100)}
    found = {64: [], 100: []}

    def repeat(ranks):
        for _ in range(20):
            found[ranks].append(heddle.run("pattern:dissemination", ranks=ranks).summary)

    threads = [threading.Thread(target=repeat, args=(ranks,)) for ranks in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for ranks, summaries in found.items():
        assert summaries == [expected[ranks]] * 20


def test_the_lock_is_free_during_a_run():
    """While a run of seconds goes on, another thread of Python does its own work."""
    counted = 0
    shares = []
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.monotonic()
    heddle.run("pattern:dissemination", ranks=1 << 15, progress=shares.append)
    took = time.monotonic() - begun
    done.set()
    thread.join()
    # A thread that had to wait for the lock would have counted next to nothing.
    assert counted > took / 0.001 / 50
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)


# Runs long: 2^24 messages over a network with switches.
LONG = """
import heddle, sys
print("ready", flush=True)
try:
    heddle.run("pattern:linear-alltoall", ranks=4096, topology="star:hosts=4096", size="64KiB")
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def test_interrupts_stop_a_run():
    path = os.pathsep.join(sys.path)
    # What a shell starts in the background ignores interrupts, and its children do.
    child = subprocess.Popen(
        ["env", "--default-signal=INT", sys.executable, "-c", LONG],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path},
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(1)
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    try:
        said, _ = child.communicate(timeout=30)
    finally:
        child.kill()
    assert (said, child.returncode) == ("stopped\n", 0)
    assert time.monotonic() - begun < 10


def test_many_small_runs():
    """Ten thousand take less than 10 s in an optimised build; a tenth of them is tried here."""
    begun = time.monotonic()
    for _ in range(1000):
        heddle.run("pattern:gather", ranks=2)
    assert time.monotonic() - begun < 30


def test_pictures_of_results_for_notebooks():
    result = heddle.run("pattern:gather", ranks=2)
    assert "makespan" in result._repr_html_()
    assert "<th>finish_ps</th>" in result.ranks._repr_html_()
    assert repr(result).startswith("<Result: makespan ")
    assert json.dumps(result.summary)
