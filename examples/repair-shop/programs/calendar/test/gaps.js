import { check } from '../../check.js'
import { fits, free } from '../src/index.js'

check('around a meeting', () => free(['10:00-11:00'], '09:00-12:00', 60), ['09:00-10:00', '11:00-12:00'])
check('too short', () => free(['09:10-11:50'], '09:00-12:00', 15), [])
check('a meeting after the day', () => free(['19:00-20:00'], '09:00-12:00', 30), ['09:00-12:00'])
check('one within the other', () => free(['09:00-11:00', '09:15-10:00'], '09:00-12:00', 30), ['11:00-12:00'])
check('fits before', () => fits(['10:00-11:00'], '09:00-10:00'), true)
check('fits after', () => fits(['10:00-11:00'], '11:00-12:00'), true)
check('does not fit', () => fits(['10:00-11:00', '13:00-14:00'], '10:30-12:00'), false)
