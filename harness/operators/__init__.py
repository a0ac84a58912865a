"""What each operator means: a file an operator with its oracle, its inputs and the examples of its document.

``operator.py`` and ``draw.py`` are the mechanism; the folders are ONNX's own categories.
"""
