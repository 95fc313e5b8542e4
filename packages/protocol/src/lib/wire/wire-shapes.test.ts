import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { type Task, taskSchema } from '../record/task.ts'
import { META, METHOD_SCHEMAS, METHODS } from './extension.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import { type SessionSnapshot, sessionSnapshotSchema } from './session-snapshot.ts'

const environment = { name: 'number-guessing', version: '1.0.0' }
const snapshot: SessionSnapshot = {
  ...{ format: 1, environment, params: { low: 1 }, seed: 'seed', limits: DEFAULT_LIMITS, now: 1.5 },
  rng: { main: [1, -2_147_483_648, 2_147_483_647, 0] },
  state: { public: { low: 1 }, private: { target: 9 } },
  seats: { agent: { seq: 3 } },
  history: [{ tool: 'guess' }],
  end: null,
}
const task: Task = {
  ...{ id: 'task-1', environment, tools: ['guess'], prompt: 'Find it.', hints: [], params: { low: 1 }, seed: 'seed' },
  ...{ difficulty: 0.25, limits: { steps: 8 }, split: 'train', tags: ['short'], metadata: {} },
}

it('lets a reader skip what a newer server adds to an answer', () => {
  const end = { kind: 'truncated', reason: 'step-limit' }
  expect(METHOD_SCHEMAS.close.result.parse({ end: { ...end, since: 3 }, more: 1 })).toEqual({ end })
})

describe('the parameters of the methods', () => {
  it('have defaults', () => {
    const requestKey = 'k'.repeat(16)
    expect(METHOD_SCHEMAS.open.params.parse({ environment: 'e', requestKey })).toEqual({
      environment: 'e',
      requestKey,
      params: {},
      limits: {},
    })
    expect(METHOD_SCHEMAS.watch.params.parse({ session: 's' })).toEqual({ session: 's', after: 0, limit: 100, wait: 0 })
    expect(METHOD_SCHEMAS.sessions.params.parse({})).toEqual({ limit: 100 })
    expect(METHOD_SCHEMAS.snapshot.params.parse({ session: 's' })).toEqual({ session: 's' })
    expect(METHOD_SCHEMAS.fork.params.parse({ session: 's', requestKey })).toEqual({
      session: 's',
      requestKey,
      count: 1,
    })
  })

  it('let _meta pass and refuse any other key that nobody knows', () => {
    const calls: readonly (readonly [z.ZodType, object])[] = [
      [METHOD_SCHEMAS.open.params, { environment: 'e', requestKey: 'k'.repeat(16) }],
      [METHOD_SCHEMAS.state.params, { session: 's' }],
      [METHOD_SCHEMAS.sessions.params, {}],
      [METHOD_SCHEMAS.watch.params, { session: 's' }],
      [METHOD_SCHEMAS.snapshot.params, { session: 's' }],
      [METHOD_SCHEMAS.restore.params, { snapshot, requestKey: 'k'.repeat(16) }],
      [METHOD_SCHEMAS.fork.params, { session: 's', requestKey: 'k'.repeat(16) }],
    ]
    for (const [schema, params] of calls) {
      expect(schema.safeParse({ ...params, _meta: { progressToken: 1 } }).success).toBe(true)
      expect(schema.safeParse({ ...params, sesion: 's' }).success).toBe(false)
    }
  })

  it('are bounded', () => {
    const open = { environment: 'e', requestKey: 'k'.repeat(16) }
    const refused: readonly (readonly [z.ZodType, object])[] = [
      [METHOD_SCHEMAS.open.params, { ...open, requestKey: 'short' }],
      [METHOD_SCHEMAS.open.params, { ...open, requestKey: 'k'.repeat(257) }],
      [METHOD_SCHEMAS.open.params, { ...open, seed: '' }],
      [METHOD_SCHEMAS.open.params, { ...open, limits: { steps: 0 } }],
      [METHOD_SCHEMAS.open.params, { ...open, limits: { step: 1 } }],
      [METHOD_SCHEMAS.watch.params, { session: 's', limit: 0 }],
      [METHOD_SCHEMAS.watch.params, { session: 's', limit: 1_001 }],
      [METHOD_SCHEMAS.watch.params, { session: 's', wait: 61 }],
      [METHOD_SCHEMAS.sessions.params, { limit: 1_001 }],
      [METHOD_SCHEMAS.snapshot.params, { session: 's', at: -1 }],
      [METHOD_SCHEMAS.snapshot.params, { session: 's', at: 0.5 }],
      [METHOD_SCHEMAS.restore.params, { snapshot, requestKey: 'short' }],
      [METHOD_SCHEMAS.fork.params, { session: 's', requestKey: 'k'.repeat(16), count: 0 }],
      [METHOD_SCHEMAS.fork.params, { session: 's', requestKey: 'k'.repeat(16), count: 1_001 }],
      [METHOD_SCHEMAS.fork.params, { session: 's', requestKey: 'k'.repeat(16), seed: '' }],
      [METHOD_SCHEMAS.fork.params, { session: 's', requestKey: 'short' }],
    ]
    for (const [schema, params] of refused) expect(schema.safeParse(params).success).toBe(false)
  })
})

describe('sessionSnapshotSchema', () => {
  it('refuses a key that nobody knows, and numbers that no session can have', () => {
    for (const change of [
      { format: 2 },
      { secret: 1 },
      { state: { ...snapshot.state, secret: {} } },
      { now: -1 },
      { now: Number.POSITIVE_INFINITY },
      { rng: { main: [1, 2, 3] } },
      { rng: { main: [0, 0, 0, 0] } },
      { rng: { main: [1, 2, 3, 2 ** 31] } },
      { seats: { agent: { seq: -1 } } },
      { seed: '' },
      { history: ['guess'] },
    ])
      expect(sessionSnapshotSchema.safeParse({ ...snapshot, ...change }).success).toBe(false)
  })
})

describe('taskSchema', () => {
  it('refuses a key that nobody knows, and a difficulty out of range', () => {
    for (const change of [{ dificulty: 1 }, { difficulty: 1.1 }, { difficulty: -0.1 }, { split: 'dev' }])
      expect(taskSchema.safeParse({ ...task, ...change }).success).toBe(false)
  })
})

describe('the names of the extension', () => {
  it('do not change', () => {
    expect(Object.values(METHODS)).toEqual(Object.keys(METHODS).map((name) => `environment/${name}`))
    expect(Object.values(META)).toEqual(Object.keys(META).map((name) => `dev.episodic/${name}`))
  })
})
