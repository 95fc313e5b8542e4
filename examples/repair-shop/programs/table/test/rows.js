import { check } from '../../check.js'
import { csv, table } from '../src/index.js'

check(
  'plain',
  () =>
    csv([
      ['a', 'b'],
      [1, 2],
    ]),
  ['a,b', '1,2'],
)
check('quotes', () => csv([['a,b', 'say "no"', 'c\nd']]), ['"a,b","say ""no""","c\nd"'])
check('a short row', () => csv([['a', 'b'], ['x']]), ['a,b', 'x,'])
check('a long row', () => csv([['a'], ['x'], ['x', 'y']]), 'error: row 2 is too long')
check('the first row too long', () => csv([['a'], ['x', 'y']]), 'error: row 1 is too long')
check(
  'numbers',
  () =>
    table(
      [
        ['n', 'name'],
        [10, 'x'],
        [-2.5, 'y'],
      ],
      9,
    ),
  ['   n  name', '----  ----', '  10  x', '-2.5  y'],
)
check('a heading alone', () => table([['wide heading', 'b']], 6), ['wide    b', 'headin', 'g', '------  -'])
check('not all numbers', () => table([['nn'], ['5'], ['x']], 9), ['nn', '--', '5', 'x'])
