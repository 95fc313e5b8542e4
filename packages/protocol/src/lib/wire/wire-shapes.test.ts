import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { type EpisodeRecord, episodeRecordSchema } from '../record/episode-record.ts'
import { type Task, taskSchema } from '../record/task.ts'
import type { EpisodeEnd } from './end-reasons.ts'
import type { EnvironmentInfo } from './environment-info.ts'
import { episodeEndSchema } from './episode-end.ts'
import { type LoggedStep, META, METHOD_SCHEMAS, METHODS, type MethodResult, type OpenResult } from './extension.ts'
import { DEFAULT_LIMITS, limitsRequestSchema, limitsSchema } from './limits.ts'
import type { Observation } from './observation.ts'
import { type AppliedEvent, type OutsideHistory, publishResultSchema, type RecordedEvent } from './outside-event.ts'
import { type SessionSnapshot, sessionSnapshotSchema } from './session-snapshot.ts'
import { type Action, type StepReport, stepReportSchema } from './step.ts'

const action: Action = { tool: 'guess', arguments: { value: 7, notes: ['a', null, { deep: true }] } }
const observation: Observation = { text: '7 is too low. 🎲', structured: { hint: 'low' } }
const report: StepReport = {
  seq: 3,
  revision: 4,
  terms: { solved: 0, cost: -0.01 },
  potential: 0.5,
  end: null,
  refused: 'rules',
  stateHash: 'd41d8cd98f00b204e9800998ecf8427e',
}
const terminated: EpisodeEnd = { kind: 'terminated', reason: 'solved' }
const truncated: EpisodeEnd = { kind: 'truncated', reason: 'step-limit' }
const environment = { name: 'number-guessing', version: '1.0.0' }
const loggedStep: LoggedStep = {
  seat: 'agent',
  action,
  observation,
  report: { ...report, end: terminated, success: true },
  published: [{ type: 'sold-out', data: { flight: 'EK 1' }, said: null }],
}
const happened: RecordedEvent = { id: 'event-1', type: 'price-changed', data: { price: 7 }, said: 'Now 7.', end: null }
const applied: AppliedEvent = { ...happened, revision: 3 }
const published: MethodResult<'publish'> = { revision: 3, end: terminated, delivered: 'before' }

const info: EnvironmentInfo = {
  ...environment,
  description: 'Find the number.',
  paramsSchema: { type: 'object' },
  tools: [{ name: 'guess', description: 'Guess.', inputSchema: { type: 'object' }, outputSchema: null }],
  terms: ['solved', 'cost'],
  potential: true,
  success: true,
  legal: true,
  forkable: true,
  handle: 'game',
  seats: [{ name: 'first', tools: ['guess'] }],
  viewSchema: { type: 'object' },
  limits: DEFAULT_LIMITS,
}
const openResult: OpenResult = {
  id: 'session-1',
  session: 'handle',
  epoch: 1,
  environment,
  params: { low: 1 },
  seed: 'seed',
  limits: { steps: 10, seconds: 1.5, bytes: 1_000 },
  seats: { agent: { capability: 'capability', observation, seq: 2 } },
  potential: null,
}
const snapshot: SessionSnapshot = {
  format: 1,
  environment,
  params: { low: 1 },
  seed: 'seed',
  limits: DEFAULT_LIMITS,
  rng: { main: [1, -2_147_483_648, 2_147_483_647, 0] },
  now: 1.5,
  state: { public: { low: 1 }, private: { target: 9 } },
  seats: { agent: { seq: 3 } },
  history: [{ tool: 'guess' }],
  end: null,
}
const stateResult: MethodResult<'state'> = {
  id: 'session-1',
  environment,
  revision: 4,
  epoch: 1,
  seats: { agent: { seq: 3 } },
  now: 30,
  state: { public: { low: 1 }, private: { target: 9 } },
  end: truncated,
}
const summary: MethodResult<'sessions'>['sessions'][number] = {
  id: 'session-1',
  environment: 'number-guessing',
  owner: null,
  age: 3.5,
  idle: 0,
  bytes: 812,
  steps: 3,
  seats: { first: { steps: 3, end: null }, second: { steps: 0, end: { kind: 'terminated', reason: 'left' } } },
  turn: ['first'],
  history: 0,
  end: null,
}
const task: Task = {
  id: 'task-1',
  environment,
  server: 'local',
  tools: ['guess'],
  prompt: 'Find it.',
  hints: [],
  params: { low: 1 },
  seed: 'seed',
  difficulty: 0.25,
  limits: { steps: 8 },
  split: 'train',
  tags: ['short'],
  metadata: {},
}
const finished: EpisodeRecord = {
  format: 3,
  run: 'run-1',
  task: { id: 'task-1', prompt: 'Find it.', difficulty: 0.25, split: 'train', tags: ['short'] },
  attempt: 0,
  try: 0,
  environment,
  params: { low: 1 },
  seed: 'seed',
  policy: { name: 'bisect', seed: 'seed' },
  branch: null,
  start: { observation, potential: 0 },
  steps: [
    {
      action,
      observation,
      reward: { total: 0.49, terms: { solved: 0, cost: -0.01 }, shaping: 0.5 },
      potential: 0.5,
      refused: null,
      stateHash: 'd41d8cd98f00b204e9800998ecf8427e',
      milliseconds: 0.75,
    },
  ],
  outcome: { kind: 'finished', end: terminated },
  returns: { total: 0.49, unshaped: -0.01, discounted: 0.49 },
  chain: '5d41402abc4b2a76b9719d911017c592',
  time: { started: 0, ended: 12.5 },
  seal: null,
}
const outside = { events: [applied], prepared: { price: 7 } }
const kept: OutsideHistory = {
  pending: [applied],
  known: [{ id: 'event-1', content: 'd41d8cd98f00b204', revision: 3, end: null }],
}
const eventful: EpisodeRecord = {
  ...finished,
  steps: finished.steps.map((step) => ({
    ...step,
    events: [{ ...happened, inherited: true as const }, happened],
    prepared: null,
  })),
}
const failed: EpisodeRecord = {
  ...finished,
  start: null,
  steps: [],
  outcome: { kind: 'failed', error: { code: 'internal', message: 'It broke.' } },
  returns: null,
}
const leaf: EpisodeRecord = {
  ...finished,
  branch: { rollout: 1, leaves: 6, copies: 1, path: [0, 2], at: [1, 4], seeds: [null, 'fresh'] },
}

describe('the shapes on the wire', () => {
  const shapes: readonly (readonly [string, z.ZodType, unknown])[] = [
    ['a terminated end', episodeEndSchema, terminated],
    ['a truncated end', episodeEndSchema, truncated],
    ['a step report', stepReportSchema, report],
    ['a report of a step that something came to from outside', stepReportSchema, { ...report, ...outside }],
    ['the answer of publish', publishResultSchema, published],
    ['limits', limitsSchema, DEFAULT_LIMITS],
    ['a request for limits', limitsRequestSchema, { steps: 5, seconds: 0.5 }],
    ['the answer of list', METHOD_SCHEMAS.list.result, { environments: [info] }],
    ['the answer of open', METHOD_SCHEMAS.open.result, openResult],
    ['the answer of state', METHOD_SCHEMAS.state.result, stateResult],
    ['a snapshot', sessionSnapshotSchema, snapshot],
    ['a snapshot of a session that something happened to', sessionSnapshotSchema, { ...snapshot, outside: kept }],
    ['the answer of snapshot', METHOD_SCHEMAS.snapshot.result, { snapshot: { ...snapshot, end: terminated } }],
    ['the answer of fork', METHOD_SCHEMAS.fork.result, { forks: [openResult, openResult] }],
    [
      'the answer of watch',
      METHOD_SCHEMAS.watch.result,
      { steps: [loggedStep], events: [applied], end: null } satisfies MethodResult<'watch'>,
    ],
    ['the answer of sessions', METHOD_SCHEMAS.sessions.result, { total: 1, sessions: [summary] }],
    ['the answer of close', METHOD_SCHEMAS.close.result, { end: truncated } satisfies MethodResult<'close'>],
    ['a task', taskSchema, task],
    ['a finished episode', episodeRecordSchema, finished],
    ['an episode that something came to from outside', episodeRecordSchema, eventful],
    ['a failed episode', episodeRecordSchema, failed],
    ['a leaf of a tree', episodeRecordSchema, leaf],
  ]

  it.each(shapes)('carry %s through JSON unchanged', (_name, schema, value) => {
    expect(schema.parse(JSON.parse(JSON.stringify(value)))).toStrictEqual(value)
  })

  it.each(shapes)('refuse %s that lacks any of its required keys', (_name, schema, value) => {
    const whole = value as { readonly [key: string]: unknown }
    const optional = new Set(
      schema === limitsRequestSchema || schema === taskSchema
        ? ['server', 'steps', 'seconds']
        : schema === stepReportSchema || schema === sessionSnapshotSchema || schema === METHOD_SCHEMAS.watch.result
          ? ['events', 'prepared', 'outside']
          : [],
    )
    for (const key of Object.keys(whole).filter((key) => !optional.has(key))) {
      const { [key]: _, ...rest } = whole
      expect(schema.safeParse(rest).success).toBe(false)
    }
  })

  it('let a reader skip what a newer server adds to an answer', () => {
    expect(METHOD_SCHEMAS.close.result.parse({ end: { ...truncated, since: 3 }, more: 1 })).toEqual({ end: truncated })
  })
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
