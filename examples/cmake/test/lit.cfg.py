import os
import sys

import lit.formats

config.name = "vgfc-example"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])  # noqa: F821
config.environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")  # noqa: F821
