import type { ServerResponse } from 'node:http'
import { generateTasks, type TasksDefinition } from '@episodic/dataset'
import { connect, type Environment } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { type Answering, bisecting, startChatServer } from '@episodic/models/chat-server.fixture'
import { DEFAULT_OPTIONS } from '@episodic/models/model-options'
import { type RunEpisodesOptions, runEpisodes } from '@episodic/play/play/episodes/run-episodes'
import { planEpisodes } from '@episodic/play/play/plan/plan'
import { findPolicy } from '@episodic/play/worlds/policies'
import { loadWorld, type World } from '@episodic/play/worlds/world'
import type { EpisodeRecord, SealedRecord } from '@episodic/protocol'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import type { WaitingClock } from '@episodic/run/base/waiting-clock'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld } from '../../fixtures/episodic.fixture.ts'

let world: World
const cleanUp = new AsyncDisposableStack()
let createEnvironment: () => Environment

beforeAll(async () => {
  world = await loadWorld(exampleWorld('number-guessing'))
  const host = cleanUp.use(createHost({ environments: [world.environment] }))
  const connection = cleanUp.use(await connect(inProcess(host)))
  createEnvironment = () => connection.environment()
})
afterAll(() => cleanUp.disposeAsync())

interface Play extends Partial<RunEpisodesOptions> {
  readonly tasks?: number
}

/** Plays with a model behind a real server, and returns what was sealed and what the server was asked. */
async function play(answer: Answering, { tasks = 1_000, ...options }: Play = {}) {
  await using server = await startChatServer(answer)
  const sealed: EpisodeRecord[] = []
  const policy = await findPolicy('llm:test', world, { model: { ...DEFAULT_OPTIONS, baseUrl: server.url } })
  const plan = planEpisodes(rowsOf(generateTasks(world.tasks as TasksDefinition, { seed: 'plan', count: tasks })), 1)
  const failure = await runEpisodes(plan, {
    run: 'test',
    createEnvironment,
    policy,
    models: ['llm:test'],
    seed: '0',
    discount: 1,
    concurrency: 64,
    seal: async (record: SealedRecord) => void sealed.push(seatRecordOf(record)),
    ...options,
  }).then(
    () => null,
    (error: unknown) => error,
  )
  return { sealed, failure, requests: server.requests.length }
}

async function* rowsOf<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}

/** Refuses a request for good. */
function refuse(response: ServerResponse, status: number, code?: string): null {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { message: `Not so ${status}`, code } }))
  return null
}

/** Does not answer a request; the client does not ask again. */
function fail(response: ServerResponse): null {
  response.writeHead(503, { 'x-should-retry': 'false' }).end('{"error":{"message":"overloaded"}}')
  return null
}

/** A clock that keeps what was waited for, and passes at once. */
function virtualClock() {
  const waits: number[] = []
  const clock: WaitingClock = {
    now: () => waits.reduce((sum, wait) => sum + wait, 0),
    wait: async (milliseconds) => void waits.push(milliseconds),
  }
  return { clock, waits }
}

const failuresOf = (sealed: readonly EpisodeRecord[]) =>
  sealed.flatMap(({ outcome }) => (outcome.kind === 'failed' ? [outcome.error.code] : []))

describe('runEpisodes with a language model', () => {
  it('plays one episode alone until the first answer, and then as many as allowed', async () => {
    const counts: number[] = []
    const four = Promise.withResolvers<void>()
    const { failure, sealed } = await play(
      async (request, number) => {
        counts.push(number)
        if (number === 0) {
          for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
          expect(counts).toEqual([0])
        } else {
          // The first episode has not ended by then: each of four in flight waits for the others.
          if (counts.length === 5) four.resolve()
          await four.promise
        }
        return bisecting(request)
      },
      { tasks: 12, concurrency: 4 },
    )
    expect([failure, sealed.length]).toEqual([null, 12])
  })

  it.each([
    [401, undefined, 'Check the key in OPENAI_API_KEY.'],
    [404, undefined, 'Check the name of the model'],
    [422, undefined, 'Check the options of the model'],
    [402, undefined, 'The quota of the key in OPENAI_API_KEY is spent'],
    [429, 'insufficient_quota', 'The quota of the key in OPENAI_API_KEY is spent'],
  ])(
    'stops after five requests of a thousand tasks if all get HTTP %i, and seals nothing',
    async (status, code, advice) => {
      const { failure, sealed, requests } = await play((_, __, response) => refuse(response, status, code))
      expect(failure).toMatchObject({
        code: 'model-refused',
        message: expect.stringMatching(new RegExp(`^5 episodes in a row failed.*${advice}`)),
      })
      expect([sealed, requests]).toEqual([[], 5])
    },
  )

  it('stops after so many refusals in a row as failFast says, and never at 0', async () => {
    const answer: Answering = (_, __, response) => refuse(response, 401)
    const two = await play(answer, { tasks: 9, failFast: 2 })
    expect([two.failure, two.requests, two.sealed]).toMatchObject([{ code: 'model-refused' }, 2, []])
    const off = await play(answer, { tasks: 9, failFast: 0 })
    expect([off.failure, failuresOf(off.sealed)]).toEqual([null, new Array(9).fill('model-refused')])
  })

  it('counts only refusals of one status in a row', async () => {
    const answer: Answering = (_, number, response) => refuse(response, number % 2 === 0 ? 401 : 403)
    const { failure, sealed, requests } = await play(answer, { tasks: 9, failFast: 2 })
    // It was never answered, so nothing is sealed at the end either.
    expect([failure, requests, sealed]).toMatchObject([{ code: 'model-refused' }, 9, []])
  })

  it('seals refused episodes as failed if the model answers others in between', async () => {
    const answer: Answering = (request, _, response) =>
      request.messages.length > 2 ? refuse(response, 400) : bisecting(request)
    const { failure, sealed } = await play(answer, { tasks: 20, failFast: 2, concurrency: 1 })
    expect(failure).toBeNull()
    expect(failuresOf(sealed)).toEqual(new Array(20).fill('model-refused'))
  })

  it('waits for the end of an outage, and plays on what got no answer in it', async () => {
    const { clock, waits } = virtualClock()
    const notices: string[] = []
    let isDown = false
    const answer: Answering = (request, number, response) => {
      if (number === 30) isDown = true
      if (waits.length === 4) isDown = false
      return isDown ? fail(response) : bisecting(request)
    }
    const { failure, sealed } = await play(answer, {
      tasks: 40,
      concurrency: 4,
      clock,
      onNotice: (notice) => void notices.push(notice),
    })
    expect(failure).toBeNull()
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000])
    expect(new Set(sealed.map(({ task }) => task.id)).size).toBe(40)
    expect(sealed).toHaveLength(40)
    const failures = sealed.filter(({ outcome }) => outcome.kind === 'failed')
    // Those that began the outage, and those that had begun before it.
    expect(failures.length).toBeGreaterThanOrEqual(8)
    expect(failures.length).toBeLessThanOrEqual(8 + 3)
    expect(notices).toEqual([
      '8 episodes in a row got no answer of llm:test. Waiting for it, for up to 600 s.',
      'llm:test answers again.',
    ])
  })

  it('stops at the limit of an outage, and leaves the rest', async () => {
    const { clock, waits } = virtualClock()
    const answer: Answering = (_, __, response) => fail(response)
    const { failure, sealed } = await play(answer, { tasks: 40, concurrency: 4, outageLimit: 150, clock })
    expect(failure).toMatchObject({
      code: 'model-unavailable',
      message: expect.stringContaining('llm:test has not answered for 150 s'),
    })
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 27_000])
    expect(failuresOf(sealed)).toEqual(new Array(8).fill('model-unavailable'))
  })

  it('drops an outage that an abort ends', async () => {
    const abort = new AbortController()
    const clock: WaitingClock = { now: () => 0, wait: async () => abort.abort() }
    const answer: Answering = (_, __, response) => fail(response)
    const { failure, sealed } = await play(answer, { tasks: 40, concurrency: 4, clock, signal: abort.signal })
    expect([failure, sealed.length]).toEqual([null, 8])
  })
})
