import { check } from '../../check.js'
import { busy } from '../src/index.js'
import { merge } from '../src/merge.js'

check('shared time', () => busy(['09:00-10:00', '09:30-10:30']), 90)
check('one within the other', () => busy(['09:00-12:00', '10:00-11:00']), 180)
check('out of order', () => busy(['11:00-12:00', '09:00-10:00', '09:45-11:30']), 180)
check('three apart', () => busy(['08:00-09:00', '10:00-11:00', '10:30-12:00']), 180)
check(
  'touching',
  () =>
    merge([
      { from: 60, to: 120 },
      { from: 120, to: 180 },
    ]).length,
  1,
)
check('nothing', () => busy([]), 0)
