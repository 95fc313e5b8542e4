import { assign } from './assign.js'
import { assertJobs } from './jobs.js'
import { ordered } from './order.js'

export function order(jobs) {
  assertJobs(jobs)
  return ordered(jobs).map(({ name }) => name)
}

export function plan(jobs, machines) {
  assertJobs(jobs)
  return assign(ordered(jobs), machines)
}

export function duration(jobs, machines) {
  return Math.max(0, ...plan(jobs, machines).map(({ ends }) => ends))
}
