"""True errors, trials and verdicts, teaching bundles: for demonstrations, always marked.

Neither a mechanism nor ``exporting`` may import it.
"""
