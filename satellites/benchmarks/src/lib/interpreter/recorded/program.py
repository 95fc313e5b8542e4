"""What the interpreter runs as Python does, one line for each part: `python3 program.py > program.txt`."""

import random
from copy import deepcopy
from datetime import datetime, timedelta

LIMIT: int = 5


def choose(number, other=2, names: list[str] = None) -> int:
    """Goes through all kinds of branches."""
    if number > 3:
        if other:
            return number + other
    elif number == 1:
        return "one"
    else:
        for i in range(3):
            if i == 1:
                continue
            number += i
        return number

    return names


class Base:
    KEY = "k"
    LIST = [
        # A comment in a list.
        KEY,
        f"{KEY}-{LIMIT}",
    ]
    TEXT = (
        f"x {', '.join(LIST)} {{y}} "
        "more\n" + 'it\'s'
    )
    BLOCK = """\
first
second \"quoted\""""

    def twice(self, number):
        return self.next(number) * 2

    def next(self, number):
        self.last = number
        return number + 1


class Derived(Base):
    def next(self, number):
        return number + 10


def append(item, to=None):
    to = to or []
    to.append(item)
    return to


base = Base()
print("classes", base.twice(3), base.last, base.KEY, Base.LIST, base.TEXT, base.BLOCK, Derived().twice(1))
print("functions", choose(5), choose(1), choose(2), choose(4, other=0), choose(4, 0, names=["a"]), append(1), append(2))
table = {1: "a", 2: "b", "x": {"y": [1, 2.0, (3,)]}}
table["z"] = 4
table[1] = "c"
del table[2]
copied = deepcopy(table)
copied["x"]["y"].append({"5"})
print("dicts", table, copied, list(table.keys()), 1 in table, table.get(9), table.get(9, "no"))
print("loops", [x * 2 for x in [1, 2, 3] if x != 2], {k: v for k, v in [("a", 1)]}, {x % 2 for x in range(5)})
print("pairs", [(x, y) for x in "ab" for y in range(2)], [*"ab", 1], sum(x for x in range(4)), list(zip([1, 2], "ab")))
print("largest", max([3, 1, 2]), min((3, 1)), max({"a": 5, "b": 9}.items(), key=lambda pair: pair[1]), max([], default=0))
print("sorted", sorted([3, 1, 2], key=lambda x: -x), sorted(["b", "B", "a"]), sorted([(1, "b"), (1, "a")], reverse=True))
for run in [lambda: table["q"], lambda: [].remove(1), lambda: 1 / 0, lambda: int("x"), lambda: "a" + 1]:
    try:
        run()
    except KeyError as error:
        print("no key", str(error))
    except (ValueError, ZeroDivisionError) as error:
        print("caught", error)
    except Exception:
        print("another")
print("ints", 7 // 2, -7 // 2, 7 % -3, 2**10, 10**25, True + 1, -(2**2), int("12"), int(3.9), abs(-3), 1_000)
print("floats", 1 / 4, 3.0 * 2, 7.5 // 2, 5.5 % 2, 1 == 1.0, float(3), round(2.5), round(2.675, 2), str(1.0), -0.5)
print("parts", "abc"[1], "abcdef"[1:3], [1, 2, 3][-1], [1, 2, 3][::-1], [1, 2, 3][:-1], (1, 2, 3)[1:])
now = datetime(2024, 9, 1, 10, 30)
print("times", now.strftime("%I:%M %p"), datetime.strptime("2024-05-01", "%Y-%m-%d"), now + timedelta(days=1))
chance = random.Random(5)
print("chance", chance.randint(1, 100), chance.randint(1, 100), chance.uniform(0, 1))
one, (two, three) = 1, (2, 3)
one += 4
print("names", one, two, three, not one, one and two, 0 or "d", 1 if one else 2, 1 < 2 < 3, 1 < 2 > 5, one is not None)
union = {1, 2} | {3}
print("sets", len(union), {1} == {1}, set([1, 1]), {1, 2} - {1}, {1}.issubset(union), set() == set(), {(1, 2)} == {(1, 2)})
print("types", isinstance(1, int), isinstance("a", (int, str)), isinstance(base, Base), isinstance(Derived(), Base))
count = 0
while True:
    count += 1
    if count > 5:
        break
if count == 6 and \
   count:
    print("texts", "a" not in "bc", f"{1.5:.2f} {count!r} {'x'!r}", "é".lower(), "a b".split(), "a,b".split(","))
print("more", "x{k}y".format(k=3), "-".join(str(i) for i in range(3)), "ab".startswith("a"), "7".zfill(3), " s ".strip())
print("any", (1, 2) in {(1, 2): 3}, any(c == "b" for c in "abc"), all([]), "ab".replace("b", "c"), "12".isdigit(), "ab".upper())
