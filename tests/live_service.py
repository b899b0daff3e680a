"""`smartmig serve` as a service of systemd, with a socket of ours in place of systemd's: live_service.py PROGRAM.

It must say when it is ready, what it is doing, that it is alive, and that it stops, and must not hand the socket to its fleet.
"""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

from live_server import end_with_the_test, stop_process


def receive_until(manager, wanted, seconds=60):
    """All messages up to the one that has the line `wanted`."""
    messages, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        manager.settimeout(max(0.01, end - time.monotonic()))
        try:
            messages.append(manager.recv(4096).decode().split("\n"))
        except TimeoutError:
            break
        if wanted in messages[-1]:
            return messages
    sys.exit(f"no {wanted} within {seconds} s; received: {messages}")


def main():
    with tempfile.TemporaryDirectory(prefix="smartmig-service-") as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(folder + "/notify")
        environment = {**os.environ, "NOTIFY_SOCKET": folder + "/notify", "WATCHDOG_USEC": "400000"}
        environment.pop("WATCHDOG_PID", None)
        service = subprocess.Popen([sys.argv[1], "serve", "--state", folder + "/state", "--listen", "127.0.0.1:0", "--fleet", "2xA100-40GB",
                                    "--stop-fleet"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=end_with_the_test)
        try:
            [first] = receive_until(manager, "READY=1")
            if f"MAINPID={service.pid}" not in first or not any(line.startswith("STATUS=2xA100-40GB with smartmig: 0 jobs") for line in first):
                sys.exit(f"the first message is {first}")
            for _ in range(3):
                receive_until(manager, "WATCHDOG=1")
            fleets = [pid for pid in os.listdir("/proc") if pid.isdigit() and is_fleet_of(pid, folder)]
            if len(fleets) != 1 or b"NOTIFY_SOCKET" in open(f"/proc/{fleets[0]}/environ", "rb").read():
                sys.exit(f"the simulated fleet {fleets} has the socket's name")
            service.send_signal(signal.SIGTERM)
            receive_until(manager, "STOPPING=1")
            if service.wait(120) != 0:
                sys.exit(f"serve ended with status {service.returncode}")
        finally:
            if service.poll() is None:
                stop_process(service, sys.argv[1], folder + "/state")


def is_fleet_of(pid, folder):
    try:
        words = open(f"/proc/{pid}/cmdline", "rb").read().decode(errors="replace").split("\0")
    except OSError:
        return False
    return "fleet" in words and folder + "/state/fleet" in words


main()
