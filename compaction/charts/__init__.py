"""Geometry of the charts: numbers in, positions out.

Pure Python: no Django, no text for operators, no markup. The template tags in
`compaction.templatetags.compaction_charts` draw what is laid out here as SVG.
"""

from __future__ import annotations
