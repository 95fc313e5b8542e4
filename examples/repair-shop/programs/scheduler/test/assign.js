import { check } from '../../check.js'
import { duration, plan } from '../src/index.js'

const job = (name, minutes, ...after) => ({ name, minutes, after })
const short = (jobs, machines) =>
  plan(jobs, machines).map(({ name, machine, begins, ends }) => `${name}${machine} ${begins}-${ends}`)

check('one machine', () => short([job('a', 5), job('b', 3)], 1), ['a1 0-5', 'b1 5-8'])
check('two machines', () => short([job('a', 5), job('b', 3), job('c', 4)], 2), ['a1 0-5', 'b2 0-3', 'c2 3-7'])
check('a job that waits', () => short([job('a', 5), job('b', 3, 'a')], 2), ['a1 0-5', 'b2 5-8'])
check('the end', () => duration([job('a', 5), job('b', 3), job('c', 1)], 2), 5)
check('nothing to do', () => duration([], 2), 0)
