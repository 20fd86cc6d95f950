"""The jars of S3A for tests: Hadoop's module for buckets, of the very version that this PySpark brings, got with Ivy.

    session = lakebed_spark.session(**s3a(folder()))

Fetched once for each environment, below `sys.prefix`, by the Ivy in PySpark's own jars. The parts of the AWS
SDK that S3A calls (15 MB) replace the bundle that it names, which has 686 MB.
"""

from __future__ import annotations

import hashlib
import os
import re
import ssl
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyspark
from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12
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
_PASSWORD = "of-no-secret"
"""Java wants one; what it keeps is not a secret."""


class JarsMissingError(AssertionError):
    """Ivy could not get them: fails the tests that open `s3a://`, and no others."""


def s3a(found: Path, *, executors: bool = False) -> dict[str, str]:
    """Settings of a session whose JVM can open `s3a://`. They must be there when the JVM starts.

    With `executors` for those of a cluster too; else tasks run in the driver's JVM.
    """
    names = ["spark_driver_extraClassPath", *(["spark_executor_extraClassPath"] if executors else [])]
    return dict.fromkeys(names, f"{found}/*")


def folder() -> Path:
    """The folder of the jars; fetched at the first call. Raises JarsMissingError."""
    hadoop = re.sub(r"^hadoop-client-api-|\.jar$", "", _only("hadoop-client-api-*.jar").name)
    module = _MODULE.format(hadoop=hadoop, sdk=_SDK)
    target = Path(sys.prefix, "s3a-jars", f"{hadoop}-{hashlib.sha256(module.encode()).hexdigest()[:8]}")
    if not target.is_dir():
        target.parent.mkdir(exist_ok=True)
        _fetch(hadoop, module, target)
    return target


def _fetch(hadoop: str, module: str, target: Path) -> None:
    """All of them, or none: the folder gets its name at the end."""
    with tempfile.TemporaryDirectory(prefix="s3a-", dir=target.parent) as working:
        Path(working, "ivy.xml").write_text(module)
        command = [str(use_java() / "bin" / "java"), *_trusting(Path(working, "trust.p12"))]
        command += ["-jar", str(_only("ivy-*.jar")), "-ivy", f"{working}/ivy.xml", "-cache", f"{working}/cache"]
        command += ["-types", "jar", "-confs", "default", "-retrieve", f"{working}/jars/[artifact]-[revision].[ext]"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode or not any(Path(working, "jars").glob(f"hadoop-aws-{hadoop}.jar")):
            raise JarsMissingError(f"Ivy did not get the jars of S3A for Hadoop {hadoop}:\n{done.stdout[-4000:]}")
        if not target.is_dir():
            os.replace(f"{working}/jars", target)


def _trusting(store: Path) -> list[str]:
    """Options with which Java trusts the certificates of this Python, as pip does.

    The Java of a package has not the certificates of its machine. Behind a proxy with a certificate of its own, it
    would reach no host.
    """
    found = list(_certificates())
    if not found:
        return []
    store.write_bytes(pkcs12.serialize_java_truststore(found, BestAvailableEncryption(_PASSWORD.encode())))
    return [f"-Djavax.net.ssl.trustStore={store}", f"-Djavax.net.ssl.trustStorePassword={_PASSWORD}"]


def _certificates() -> Iterator[pkcs12.PKCS12Certificate]:
    for number, der in enumerate(ssl.create_default_context().get_ca_certs(binary_form=True)):
        with warnings.catch_warnings(), suppress(ValueError):
            warnings.simplefilter("ignore")  # old ones break rules of today: they are warned of, then refused
            yield pkcs12.PKCS12Certificate(x509.load_der_x509_certificate(der), b"%d" % number)


def _only(pattern: str) -> Path:
    (found,) = _JARS.glob(pattern)
    return found
