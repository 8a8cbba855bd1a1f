"""Faults that open a way round a release: to its records, or to what tells of them."""

from __future__ import annotations

from tests.faults.fault import Fault

ODOMETER, ASKED = "engine/odometer.py", "engine/commands/asked.py"
WAYS = "tests/releasing/test_ways_round.py"
FAULTS = (
    Fault("records read again are others", ODOMETER,
          'if (self._protected or self._has("protected")) and not self._is_public():',
          "if self._protected and not self._is_public():",
          "A second reading of the file shows what a release protects.",
          (f"{WAYS}::test_the_same_records_read_again_are_known_in_this_process",)),
    Fault("what one reading looked at is forgotten", ODOMETER,
          'return (self._looked or self._has("looked")) and not self._is_public()',
          "return self._looked and not self._is_public()",
          "A receipt says that nobody looked, and somebody did.",
          (f"{WAYS}::test_a_receipt_knows_of_rehearsals_of_the_same_records_read_before",)),
    Fault("parts of a mechanism rehearse", "engine/tables.py",
          '        if getattr(rng, "rehearsal", False):\n            self.odometer.check_may_rehearse()\n', "",
          "A mechanism of one's own spends beside the account.",
          (f"{WAYS}::test_no_part_of_a_mechanism_rehearses_on_a_released_table",)),
    Fault("commands do not ask the account", ASKED,
          "                known.watch(private)\n", "                pass\n",
          "A later command shows true errors of a released table.",
          (f"{WAYS}::test_run_and_compare_refuse_what_the_account_has_released_until_it_is_said_to_be_public",)),
    Fault("a table without rows is refused", ASKED,
          "    if not releasing:\n        _refuse_empty(table)\n", "    _refuse_empty(table)\n",
          "That there is a release says that there is a record.",
          (f"{WAYS}::test_a_table_without_rows_is_released_like_another_and_no_note_is_printed",)),
    Fault("notes on cells beside a release", ASKED,
          'if not releasing and not getattr(options, "quiet", False):', 'if not getattr(options, "quiet", False):',
          "How many cells were unknown is printed.",
          (f"{WAYS}::test_a_table_without_rows_is_released_like_another_and_no_note_is_printed",)),
    Fault("steps to the second", "engine/releasing/chain.py",
          '_DAY_ONLY = ("charge", "lost", "close")', '_DAY_ONLY = ("lost",)',
          "The account says how long each step took.",
          (f"{WAYS}::test_a_release_says_nothing_of_when_its_steps_were_made",)),
    Fault("damaged draws are taken", "engine/releasing/source.py",
          "if hashlib.blake2b(content, digest_size=_DIGEST).digest() != digest:", "if False:",
          "A release goes on with numbers that nobody drew.",
          ("tests/releasing/test_run.py::test_a_draw_that_is_damaged_in_the_account_is_not_taken_for_another",)),
    Fault("exact values listed by their fields", "engine/exact.py",
          "        if fields is not None:\n", "        if False:\n",
          "Whatever writes data classes down writes counts down.",
          ("tests/test_exact.py::test_no_exact_data_class_lists_its_fields_for_whoever_asks",)),
    Fault("cancelled after the draw only", "engine/releasing/source.py",
          "            self._told(self._cost + share * self._costs)\n", "            pass\n",
          "A long draw cannot be stopped.",
          ("tests/releasing/test_run.py::test_a_long_draw_tells_how_far_it_is_and_ends_when_it_is_cancelled",)),
)  # fmt: skip
