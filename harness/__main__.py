"""``python -m harness`` is ``onnx-conformance``."""

import sys

from harness.cli import main

sys.exit(main())
