"""Faults in tables and in reading: records counted as something they are not."""

from __future__ import annotations

from tests.faults.fault import Fault

CODING, CODES, CONTENT = "engine/coding.py", "engine/codes.py", "engine/ingest/content.py"
VALUES, LIMITS = "tests/test_coding.py", "tests/ingest/test_limits.py"
ENCODE = "tests/ingest/test_encode.py"
TABLES = "tests/test_tables.py"

FAULTS = (
    Fault("underscores in numbers", CODING,
          "if decimal == \".\" and _BARE.fullmatch(cell):\n        return float(cell)",
          "if decimal == \".\":\n        try:\n            return float(cell)\n        except ValueError:\n            pass",
          "1_000 is read as a number.", (VALUES,)),
    Fault("a label other readable as a value", CODES,
          "    values = attribute.values or ()\n    exact = ", "    values = attribute.labels\n    exact = ",
          "A cell that says (other) or (missing) is counted there although nobody declared it.", (VALUES,)),
    Fault("zeros after the point", CODING, 'rest = (rest or "").rstrip("0")', 'rest = rest or ""',
          "1.0 in one file and 1 in another are two values.", (VALUES,)),
    Fault("decimal comma as a thousands mark", CODING,
          "    if mark is not None and mark != decimal:\n        return None\n", "",
          "3,5 is read as 3.5 where a comma stands for thousands.", (VALUES,)),
    Fault("negative in brackets", CODING, 'negative = bool(found["open"]) or any(', "negative = any(",
          "(3) is read as 3.", (VALUES,)),
    Fault("missing codes after labels", CODES,
          'if (stripped == "" and "" not in self.exact) or stripped in self.codes:\n            return self.gap\n',
          'if stripped == "" and "" not in self.exact:\n            return self.gap\n',
          "A code that means missing is counted as a value.", (VALUES,)),
    Fault("a missing cell in another value", CODES,
          'if rule.rule == "category":\n            return self.attribute.size - 1',
          'if rule.rule == "category":\n            return 0',
          "Missing cells are counted as the first value.", (f"{ENCODE}::test_texts_outside_go_to_other_and_missing_ones_to_their_own_value",)),
    Fault("dropped records stay", CODES,
          'if rule.rule == "drop":\n            return DROP', 'if rule.rule == "drop":\n            return 0',
          "Records that should be left out are counted.", (f"{TABLES}::test_each_missing_rule_does_what_it_says",)),
    Fault("other beside missing", CODES, "attribute.size - own - 1", "attribute.size - 1",
          "Undeclared values are counted as missing.", (f"{ENCODE}::test_texts_outside_go_to_other_and_missing_ones_to_their_own_value",)),
    Fault("zip bombs unpacked", CONTENT, "limit, total = 8 * limits.file, 0", "limit, total = 800 * limits.file, 0",
          "A small workbook takes all of the memory.", (LIMITS,)),
    Fault("gzip bombs unpacked", CONTENT, "if total > limits.file:", "if total > 900 * limits.file:",
          "A small file takes all of the memory.", (LIMITS,)),
    Fault("gzip bombs in the strict reader", "engine/strict_csv.py", "file.read(_MAX_BYTES + 1)", "file.read()",
          "A small file takes all of the memory.", (LIMITS,)),
    Fault("short lines filled in silence", "engine/strict_csv.py", "if len(row) != width:", "if len(row) < width - 1:",
          "A line with a field too many shifts its values.", (f"{TABLES}::test_a_file_that_is_no_such_table_is_refused",)),
    Fault("line of a cell", "engine/strict_csv.py", "\n_FIRST_LINE = 2\n", "\n_FIRST_LINE = 1\n",
          "A refusal names the line before the one to correct.", (f"{TABLES}::test_a_refused_cell_is_placed_by_attribute_record_and_line",)),
    Fault("all rows of a person", "engine/ingest/encode.py",
          "person, domain.rows_per_person, order=order", "person, len(preview.frame), order=order",
          "A person with many rows is protected less than promised.", (f"{ENCODE}::test_a_person_keeps_at_most_k_rows_chosen_at_random",)),
    Fault("the first rows of a person", "engine/ingest/persons.py",
          "return _first_of_each(who, order(len(who)), most)", "return _first_of_each(who, np.arange(len(who)), most)",
          "Which rows stay depends on the order of the file.", (f"{ENCODE}::test_a_person_keeps_at_most_k_rows_chosen_at_random",)),
    Fault("counts of a thread twice", "engine/kernels.py",
          "part[0] = values[0]", "part[0] = 2.0 * values[0]",
          "The total counts twice in every table.", ("tests/test_grem.py", "tests/test_kernels.py")),
    Fault("two axes swapped", "engine/layout.py",
          "return cells.reshape(self._shape[k]).transpose(self._perm[k])", "return cells.reshape(self._shape[k]).transpose(self._perm[k][::-1])",
          "Tables come out with their attributes exchanged.", (f"{TABLES}::test_exact_counts_are_what_counting_record_by_record_gives",)),
    Fault("bins without their last edge", CODES,
          "undeclared[at] = _number_codes(attribute, numbers[at])", "undeclared[at] = _number_codes(attribute, np.nextafter(numbers[at], np.inf))",
          "The largest value falls out of the last bin.", (f"{TABLES}::test_a_bin_holds_its_left_edge_and_the_last_bin_both",)),
)  # fmt: skip
