import { check } from '../../check.js'
import { order } from '../src/index.js'

const job = (name, minutes, ...after) => ({ name, minutes, after })

check('one minute', () => order([job('a', 1)]), ['a'])
check('no minute', () => order([job('a', 0)]), 'error: not a duration: 0')
check('half a minute', () => order([job('a', 1.5)]), 'error: not a duration: 1.5')
check('unknown', () => order([job('a', 1, 'b')]), 'error: unknown job: b')
