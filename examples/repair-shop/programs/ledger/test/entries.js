import { check } from '../../check.js'
import { centsOf, entryOf } from '../src/entries.js'
import { balance } from '../src/index.js'

check('cents', () => centsOf('12.5'), 1250)
check('a cent', () => centsOf('0.01'), 1)
check('rounding', () => centsOf('0.29'), 29)
check('nothing', () => balance(['2025-03-01 cash food 0'], 'food'), 'error: not an amount: 0')
check('less than nothing', () => balance(['2025-03-01 cash food -1'], 'food'), 'error: not an amount: -1')
check('no amount', () => balance(['2025-03-01 cash food'], 'food'), 'error: not an entry: 2025-03-01 cash food')
check('to itself', () => balance(['2025-03-01 cash cash 1'], 'food'), 'error: not an entry: 2025-03-01 cash cash 1')
check('a note', () => entryOf('2025-03-01 cash food 1 for two').note, 'for two')
