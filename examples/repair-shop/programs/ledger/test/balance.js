import { check } from '../../check.js'
import { balance, largest } from '../src/index.js'

const ENTRIES = [
  '2025-03-01 cash food 12.50 lunch',
  '2025-03-02 bank cash 50',
  '2025-03-03 cash rent 30',
  '2025-03-04 cash food 1',
]

check('what pays', () => balance(ENTRIES, 'bank'), -5000)
check('what is paid', () => balance(ENTRIES, 'food'), 1350)
check('both', () => balance(ENTRIES, 'cash'), 650)
check('neither', () => balance(ENTRIES, 'car'), 0)
check('the largest', () => largest(ENTRIES, 2), [
  ['cash', 5000],
  ['rent', 3000],
])
check('equal ones', () => largest(['2025-03-01 a c 2', '2025-03-01 a b 2', '2025-03-01 a d 3'], 3), [
  ['d', 300],
  ['b', 200],
  ['c', 200],
])
check('several entries of one', () => largest(['2025-03-01 a c 4', '2025-03-01 a b 3', '2025-03-02 a b 3'], 1), [
  ['b', 600],
])
