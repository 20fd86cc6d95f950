"""SIGHUP: the server reopens its log file and reads its certificate again.

A terminal that closes sends the same signal. A server that was started in it then stops, like any other command.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable


def hold() -> None:
    """Block SIGHUP until `release`. Without a handler, it would end the process."""
    if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})


def release() -> None:
    """Deliver SIGHUP from now on, also a blocked one."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})


class Terminal:
    """The terminal that the process was started in."""

    def __init__(self) -> None:
        """Call it before SIGHUP has a handler. With `nohup`, a closed terminal does not stop the process."""
        self._matters = _has_terminal() and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN

    def is_closed(self) -> bool:
        """Whether there was one, and it is closed."""
        return self._matters and not _has_terminal()


def listen(reload: Callable[[], None], stop: Callable[[], object]) -> None:
    """Call `reload` in the running loop on every SIGHUP, or `stop` if the terminal is closed."""
    if not hasattr(signal, "SIGHUP"):
        return
    terminal = Terminal()

    def on_signal() -> None:
        if terminal.is_closed():
            stop()
        else:
            reload()

    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, on_signal)
    release()


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
