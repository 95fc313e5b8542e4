import { check } from '../../check.js'
import { busy, fits } from '../src/index.js'
import { timeOf } from '../src/parse.js'

check('an hour', () => busy(['09:00-10:00']), 60)
check('until midnight', () => busy(['23:30-24:00']), 30)
check('minute 60', () => busy(['12:60-13:00']), 'error: no such time: 12:60')
check('after midnight', () => busy(['23:00-24:01']), 'error: no such time: 24:01')
check('no time at all', () => fits([], '12:00-12:00'), 'error: not a meeting: 12:00-12:00')
check('a time', () => timeOf(605), '10:05')
