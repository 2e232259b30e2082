"""How the site is built: see ``make docs``."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent)]
os.environ.setdefault("MPLBACKEND", "Agg")

import calibrant  # noqa: E402

project = "calibrant"
author = "calibrant developers"
project_copyright = "calibrant developers"
version = release = calibrant.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
    "executed",
    "from_code",
]
root_doc = "index"
exclude_patterns = ["_build", "_extensions", "_templates", "gallery", "tasks"]
templates_path = ["_templates"]
default_role = "py:obj"
nitpicky = False
keep_warnings = False
today_fmt = "%Y"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "calibrant"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "calibrant"},
    "show_prev_next": True,
    "header_links_before_dropdown": 5,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
_WITHOUT = ("index", "start", "problems", "shapes", "report", "theory", "coming-from", "production", "tasks")
html_sidebars = {page: [] for page in _WITHOUT}

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 20,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "plot_gallery": True,
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,
}
warnings.filterwarnings("error", category=UserWarning, module="calibrant")
