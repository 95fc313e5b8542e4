import { check } from '../../check.js'
import { table } from '../src/index.js'

check(
  'widths',
  () =>
    table(
      [
        ['name', 'at'],
        ['Ada', 'home'],
        ['Li', 'x'],
      ],
      9,
    ),
  ['name  at', '----  ----', 'Ada   home', 'Li    x'],
)
check(
  'a row of two lines',
  () =>
    table(
      [
        ['name', 'n'],
        ['Ada Byron', 5],
      ],
      5,
    ),
  ['name   n', '-----  -', 'Ada    5', 'Byron'],
)
check('the widest is the heading', () => table([['number'], [5]], 9), ['number', '------', '     5'])
check('no more than allowed', () => table([['abcdef']], 4), ['abcd', 'ef', '----'])
