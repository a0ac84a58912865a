"""How Sphinx builds the site: ``make docs``."""

project = "onnx-conformance"
author = "the onnx-conformance developers"
extensions = ["myst_parser"]
myst_enable_extensions = ["alert", "colon_fence"]
myst_heading_anchors = 3
nitpicky = True
html_theme = "furo"
html_title = "onnx-conformance"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
