import { describe, expect, it } from 'vitest'
import { aggregateMetrics } from './aggregate-metrics.ts'

const response = (task: number, rollout: number, reward: number, rest: object = {}) => ({
  _ng_task_index: task,
  _ng_rollout_index: rollout,
  reward,
  ...rest,
})

describe('aggregateMetrics', () => {
  it('summarizes each number over all rollouts and over those of a task', () => {
    const usage = { response: { usage: { total_tokens: 10 } } }
    const { group_level_metrics, agent_metrics, key_metrics } = aggregateMetrics([
      response(1, 0, 0.5),
      response(0, 0, 0, { solved: false, ...usage }),
      response(0, 1, 1, { solved: true, note: 'text', nothing: null }),
    ])
    expect(agent_metrics).toMatchObject({
      'mean/reward': 0.5,
      'max/reward': 1,
      'min/reward': 0,
      'median/reward': 0.5,
      'std/reward': 0.5,
      'mean/solved': 0.5,
      'mean/total_tokens': 10,
      'std/total_tokens': 0,
      num_repeats: 2,
    })
    expect(Object.keys(agent_metrics).some((name) => name.includes('_ng') || name.includes('note'))).toBe(false)
    expect(key_metrics).toEqual({ 'mean/reward': 0.5, 'mean/solved': 0.5, 'mean/total_tokens': 10 })
    expect(group_level_metrics).toMatchObject([
      { _ng_task_index: 0, 'mean/reward': 0.5, num_rollouts: 2 },
      { _ng_task_index: 1, 'mean/reward': 0.5, 'std/reward': 0, num_rollouts: 1 },
    ])
  })

  it('counts masked rollouts, and leaves them out of every statistic', () => {
    const masked = { mask_sample: true, failure_kind: 'session_lost' }
    const { agent_metrics, key_metrics, group_level_metrics } = aggregateMetrics([
      response(0, 0, 1, { mask_sample: false }),
      response(0, 1, 0, masked),
      response(1, 0, 0, masked),
    ])
    const coverage = {
      'coverage/measured_rollouts': 1,
      'coverage/masked_rollouts': 2,
      'coverage/measured_tasks': 1,
      'coverage/fully_masked_tasks': 1,
    }
    expect(agent_metrics).toMatchObject({ 'mean/reward': 1, ...coverage })
    expect(agent_metrics).not.toHaveProperty('mean/mask_sample')
    expect(key_metrics).toEqual({ 'mean/reward': 1, ...coverage })
    expect(group_level_metrics).toHaveLength(1)
    expect(aggregateMetrics([response(0, 0, 0, masked)]).agent_metrics).not.toHaveProperty('mean/reward')
  })

  it.each([
    ['names of numbers', 1, 1_001],
    ['numbers', 1_001, 1_000],
    ['statistics of single tasks', 401, 500],
  ])('rejects too many %s', (what, rollouts, names) => {
    const numbers = Object.fromEntries(Array.from({ length: names }, (_, i) => [`n${i}`, i]))
    const responses = Array.from({ length: rollouts }, (_, task) => ({ _ng_task_index: task, ...numbers }))
    expect(() => aggregateMetrics(responses)).toThrow(new RegExp(`more than \\d+ ${what}`))
  })
})
