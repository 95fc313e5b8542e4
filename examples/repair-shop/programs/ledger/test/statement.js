import { check } from '../../check.js'
import { statement } from '../src/index.js'

const ENTRIES = [
  '2025-03-05 cash food 5',
  '2025-03-01 bank cash 50',
  '2025-03-03 cash rent 30',
  '2025-03-02 cash food 1',
  '2025-03-04 bank food 9',
]
const lines = (from, to) =>
  statement(ENTRIES, 'cash', from, to).map(({ day, change, after }) => [day.slice(8), change, after])

check('in order', () => lines('2025-03-01', '2025-03-31'), [
  ['01', 5000, 5000],
  ['02', -100, 4900],
  ['03', -3000, 1900],
  ['05', -500, 1400],
])
check('from a day to a day', () => lines('2025-03-02', '2025-03-03'), [
  ['02', -100, 4900],
  ['03', -3000, 1900],
])
check('no line', () => lines('2025-04-01', '2025-04-02'), [])
check('the other account', () => statement(ENTRIES, 'food', '2025-03-04', '2025-03-05').map(({ other }) => other), [
  'bank',
  'cash',
])
check('what it paid', () => statement(ENTRIES, 'bank', '2025-03-01', '2025-03-01').map(({ other }) => other), ['cash'])
