"""One Spark session for all tests of simdup.spark, since starting it takes seconds."""

from __future__ import annotations

import pytest

from simdup.errors import InputError

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
    from simdup.spark.corpus import NO_JAVA, start  # noqa: PLC0415  (an extra)

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYSPARK_PYTHON", raising=False)
        try:
            made = start("local[2]", CONF | PLANNING)
        except InputError as error:
            if NO_JAVA not in str(error):
                raise
            pytest.skip(NO_JAVA)
        yield made
        made.stop()
