"""Stands in for pytest in the tests of this package: runs the tests of a folder, and ends with how many passed."""

import sys
import unittest

result = unittest.TextTestRunner(stream=sys.stdout).run(unittest.defaultTestLoader.discover(".", "*_test.py"))
passed = result.testsRun - len(result.failures) - len(result.errors) - len(result.skipped)
print(f"{passed} passed, {len(result.skipped)} skipped in 0.01s")
sys.exit(0 if result.wasSuccessful() else 1)
