import { check } from '../../check.js'
import { order } from '../src/index.js'

const job = (name, ...after) => ({ name, minutes: 1, after })

check('as in the list', () => order([job('b'), job('a')]), ['b', 'a'])
check('what has to wait', () => order([job('paint', 'wash', 'dry'), job('dry', 'wash'), job('wash')]), [
  'wash',
  'dry',
  'paint',
])
check('a circle', () => order([job('a', 'b'), job('b', 'a'), job('c')]), 'error: jobs wait for each other: a, b')
