"""One Spark session for all tests of simdup.spark, since starting it takes seconds."""

from __future__ import annotations

import os
import shutil

import pytest

# The tests run many small jobs, for which compiling code well does not pay. Memory for all classes
# from the beginning saves looking for garbage whenever it has to grow.
CONF = {
    "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms1g -Xmn512m"
        " -XX:MetaspaceSize=256m -XX:ReservedCodeCacheSize=256m"
    ),
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
}

# Nor does changing plans while they run, compiling them or writing them down.
PLANNING = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.maxPlanStringLength": "100",
}


@pytest.fixture(scope="session")
def spark_conf():
    """The settings of a session that plans as Spark always does."""
    return CONF


@pytest.fixture(scope="session")
def on_spark():
    """A session on two cores."""
    from simdup.spark.corpus import start  # noqa: PLC0415  (an extra)

    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        pytest.skip("there is no Java, see .ci/java")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYSPARK_PYTHON", raising=False)
        made = start("local[2]", CONF | PLANNING)
        yield made
        made.stop()
