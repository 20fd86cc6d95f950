"""python -S early.py -m MODULE: run a module of Spark's workers, but connect to Spark first and import afterwards.

Spark gives a process that it starts for one stream alone ten seconds to connect, and no setting says otherwise
(PythonWorkerFactory.createSimpleWorker); the process imports pyspark, pandas and more before it does. Connected
and authenticated, it may take as long as the machine needs. The socket and what is said on it are Spark's own.
"""

import io
import os
import socket
import sys

_Connection = tuple[io.IOBase, socket.socket]


def _connect(port: int, secret: bytes) -> _Connection:
    """What `pyspark.util.local_connect_and_auth` does, with little imported. Raises OSError when Spark refuses."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=240)
    both = connection.makefile("rwb", 65536)
    both.write(len(secret).to_bytes(4, "big") + secret)
    both.flush()
    if both.read(int.from_bytes(both.read(4), "big")) != b"ok":
        raise OSError(f"the Spark at port {port} does not take this worker's secret")
    return both, connection


def _run(module: str, early: _Connection) -> None:
    """Run the module as `python -m` would; what it goes to connect is connected."""
    import runpy
    import site

    site.main()
    import pyspark.util

    later = pyspark.util.local_connect_and_auth

    def first(conn_info: str | int | None, auth_secret: str | None) -> _Connection:
        pyspark.util.local_connect_and_auth = later
        return early

    pyspark.util.local_connect_and_auth = first
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    early = _connect(int(os.environ["PYTHON_WORKER_FACTORY_PORT"]), os.environ["PYTHON_WORKER_FACTORY_SECRET"].encode())
    module = sys.argv[2]
    del sys.argv[1:3]
    sys.path[0] = os.getcwd()
    _run(module, early)
