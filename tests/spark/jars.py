"""The jars of S3A for tests: Hadoop's module for buckets, of the very version that this PySpark brings, got with Ivy.

    session = lakebed_spark.session(**s3a())

Fetched once for each environment, below `sys.prefix`, by the Ivy that lies in PySpark's own jars; without it the tests
fail. The parts of the AWS SDK that S3A calls (15 MB) stand in for the bundle that it names, which has 686 MB.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark
from lakebed_spark._java import use_java

_JARS = Path(pyspark.__file__).parent / "jars"
_SDK = "2.35.4"
"""The AWS SDK that hadoop-aws 3.5.0 was built with."""

_MODULE = """<ivy-module version="2.0">
  <info organisation="lakebed" module="tests"/>
  <dependencies>
    <dependency org="org.apache.hadoop" name="hadoop-aws" rev="{hadoop}" conf="default"/>
    <dependency org="software.amazon.awssdk" name="s3" rev="{sdk}" conf="default"/>
    <dependency org="software.amazon.awssdk" name="s3-transfer-manager" rev="{sdk}" conf="default"/>
    <dependency org="software.amazon.awssdk" name="sts" rev="{sdk}" conf="default"/>
    <exclude org="software.amazon.awssdk" module="bundle"/>
    <exclude org="org.slf4j"/>
    <exclude org="io.netty"/>
  </dependencies>
</ivy-module>
"""


def s3a() -> dict[str, str]:
    """Settings of a session whose JVM can open `s3a://`. They must be there when the JVM starts."""
    return {"spark_driver_extraClassPath": f"{folder()}/*"}


def folder() -> Path:
    """Where the jars lie; fetched at the first call."""
    found = _only("hadoop-client-api-*.jar")
    version = re.sub(r"^hadoop-client-api-|\.jar$", "", found.name)
    target = Path(sys.prefix) / "s3a-jars" / version
    if not target.is_dir():
        target.parent.mkdir(exist_ok=True)
        _fetch(version, target)
    return target


def _fetch(hadoop: str, target: Path) -> None:
    """All of them, or none: the folder gets its name at the end."""
    with tempfile.TemporaryDirectory(prefix="s3a-", dir=target.parent) as working:
        module = Path(working, "ivy.xml")
        module.write_text(_MODULE.format(hadoop=hadoop, sdk=_SDK))
        command = [str(use_java() / "bin" / "java"), "-jar", str(_only("ivy-*.jar")), "-ivy", str(module)]
        command += ["-cache", f"{working}/cache", "-types", "jar", "-confs", "default"]
        command += ["-retrieve", f"{working}/jars/[artifact]-[revision].[ext]"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode or not any(Path(working, "jars").glob(f"hadoop-aws-{hadoop}.jar")):
            raise AssertionError(f"Ivy did not get the jars of S3A for Hadoop {hadoop}:\n{done.stdout[-4000:]}")
        if not target.is_dir():
            os.replace(f"{working}/jars", target)


def _only(pattern: str) -> Path:
    (found,) = _JARS.glob(pattern)
    return found
