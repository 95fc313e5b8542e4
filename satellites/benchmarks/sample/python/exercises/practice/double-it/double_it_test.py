import unittest

from double_it import double


class DoubleItTest(unittest.TestCase):
    def test_of_three(self):
        self.assertEqual(double(3), 6)

    def test_of_zero(self):
        self.assertEqual(double(0), 0)
