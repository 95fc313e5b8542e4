import { replayEpisode } from '@episodic/analysis/replay/replay-episode'
import type { Origins } from '@episodic/analysis/replay/replayed-step'
import { environment as connectFour } from '@episodic/classics/connect-four'
import { environment as kuhn } from '@episodic/classics/kuhn-poker'
import { openOrigins } from '@episodic/continue/origin/open-origins'
import type { Parent } from '@episodic/continue/run/parent'
import { connect, type EarlierStep, type Player, type Policy, type PolicyContext, sampleJson } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess } from '@episodic/mcp-server'
import { createRunTask } from '@episodic/play/play/episodes/rollout'
import {
  canonicalJson,
  createRng,
  type Json,
  type JsonObject,
  type MatchRecord,
  type ModelRequest,
  parseSealedRecord,
  requestsOf,
  type SealedRecord,
  type Task,
} from '@episodic/protocol'
import type { Origin } from '@episodic/protocol/internal'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { environment as call } from '../../fixtures/call.fixture.ts'
import { environment as meeting } from '../../fixtures/meeting.fixture.ts'
import { environment as nim } from '../../fixtures/nim.fixture.ts'

/** A language model in a script: it is sent all that it was shown, and moves by that. */
function scripted(sent: Record<string, ModelRequest[]>): Policy {
  const play = ({ seat = '', seed, tools }: PolicyContext, earlier: readonly EarlierStep[]): Player => {
    const answered = earlier.flatMap(({ answers }) => answers)
    const own = answered.map(({ request }) => request as ModelRequest)
    sent[seat] = own
    let messages = [...(own.at(-1)?.messages ?? []), ...answered.slice(-1).map(({ text }) => ({ content: text }))]
    return (observation, { onCompletion, last }) => {
      const { reward = null } = last ?? {}
      messages = [...messages, { role: 'user', content: canonicalJson({ observation, reward } as unknown as Json) }]
      const request = { messages: messages as readonly JsonObject[], tools: [] }
      own.push(request)
      const rng = createRng(`${seed} ${canonicalJson(messages as Json)}`)
      const { name, inputSchema } = rng.pick(tools)
      const text = `I choose ${name}.`
      messages = [...messages, { content: text }]
      onCompletion?.({ model: 'script', promptTokens: 1, completionTokens: 1, cost: null, text, request })
      return { tool: name, arguments: sampleJson(inputSchema, rng) as JsonObject }
    }
  }
  return { name: 'script', start: (context) => play(context, []), resume: play }
}

async function playing(environment: EnvironmentDefinition, limits: Task['limits'], origins: Map<string, SealedRecord>) {
  const host = createHost({ environments: [environment] })
  const connection = await connect(inProcess(host))
  const task: Task = {
    ...{ id: 'match', environment: { name: environment.name, version: environment.version }, params: {}, limits },
    ...{ tools: [], prompt: 'Play.', hints: [], seed: 'world', difficulty: 0, split: 'train', tags: [], metadata: {} },
  }
  return {
    task,
    /** Plays a match, or goes on from a line, and returns it as it is read from a run, with what models were sent. */
    async play(seed: string, origin?: Origin, record?: MatchRecord) {
      const sent: Record<string, ModelRequest[]> = {}
      const lines = new Map(Array.from(origins, ([seal, record]) => [seal, { record, task: null }]))
      const parent = { world: { environment }, origins: lines } as unknown as Parent
      const points = record ? [{ task, record, step: origin?.step ?? 0 }] : []
      const runTask = createRunTask({
        play: { createGame: () => connection.game(), maxSteps: null, weights: {} },
        players: Object.fromEntries(environment.seats.map((seat) => [seat, scripted(sent)])),
        seed,
        discount: 0.9,
        originOf: openOrigins(parent, points),
      })
      const planned = { task: { ...task, seed }, attempt: 0, ...(origin && { origin }) }
      const [line] = await runTask(planned, { run: 'run', signal: new AbortController().signal, now: () => 0 })
      const read = parseSealedRecord(JSON.parse(JSON.stringify(line))).data as MatchRecord
      expect(read.outcome).toEqual({ kind: 'finished' })
      origins.set(read.seal as string, read)
      return { line: read, sent }
    },
    async [Symbol.asyncDispose]() {
      await connection.close()
      await host[Symbol.asyncDispose]()
    },
  }
}

const SCORING = { weights: {}, shaping: false, discount: 0.9 }

const replayed = (environment: EnvironmentDefinition, record: MatchRecord, origins: Origins, limits: Task['limits']) =>
  replayEpisode(environment, { record, whole: true }, { strict: true, scoring: SCORING, origins, limits })

const facts = ({ steps }: MatchRecord) =>
  steps.map(({ milliseconds: _, completions = [], ...step }) => ({
    ...step,
    said: completions.map(({ text }) => text),
  }))

const sum = (earned: readonly number[]) => earned.reduce((total, one) => total + one, 0)

describe('a continued match', () => {
  it.each<[string, EnvironmentDefinition, Task['limits']]>([
    ['kuhn poker', kuhn, {}],
    ['connect four', connectFour, { steps: 6 }],
    ['nim', nim, {}],
    ['a meeting of sealed moves', meeting, {}],
    ['a conversation of an agent and a user', call, { steps: 5 }],
  ])('of %s is the rest of its parent from each step, and is replayed', async (_, environment, limits) => {
    const origins = new Map<string, SealedRecord>()
    await using matches = await playing(environment, limits, origins)
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1 }), fc.nat(), async (seed, twice) => {
        const { line: parent, sent } = await matches.play(seed)
        for (let step = 0; step < parent.steps.length; step++) {
          const origin = { seal: parent.seal as string, step, seed: null }
          const child = await matches.play(seed, origin, parent)
          expect(facts(child.line)).toEqual(facts(parent).slice(step))
          expect(child.sent).toEqual(sent)
          expect(child.line.origin).toEqual(origin)
          expect(replayed(environment, child.line, origins, limits)).toEqual({
            kind: 'reproduced',
            steps: parent.steps.length - step,
          })
          for (const seat of Object.keys(parent.seats)) {
            const [whole, rest] = [seatRecordOf(parent, seat), seatRecordOf(child.line, seat)]
            const shown = (line: typeof whole) => line.steps.map(({ observation }) => observation)
            const steps = rest.steps.length
            expect(shown(rest)).toEqual(steps > 0 ? shown(whole).slice(-steps) : [])
            expect(rest.outcome).toEqual(whole.outcome)
            expect(rest.returns?.total).toBeCloseTo(
              sum(child.line.steps.map(({ rewards }) => rewards[seat]?.total ?? 0)),
              9,
            )
            const asked = requestsOf(rest)
            expect(asked).toEqual(asked.length > 0 ? sent[seat]?.slice(-asked.length) : [])
          }
          const rest = child.line.steps.length
          const later = step + (twice % rest)
          const again = { seal: child.line.seal as string, step: later, seed: null }
          const grandchild = await matches.play(seed, again, child.line)
          expect(facts(grandchild.line)).toEqual(facts(parent).slice(later))
          expect(grandchild.sent).toEqual(sent)
          expect(replayed(environment, grandchild.line, origins, limits).kind).toBe('reproduced')
        }
      }),
      { numRuns: 8, seed: 50 },
    )
  })
  it('goes on after another answer and another call, also from a match that does, and an edited line is found', async () => {
    const origins = new Map<string, SealedRecord>()
    await using matches = await playing(nim, { steps: 5 }, origins)
    const { line: parent } = await matches.play('seed')
    const call = { seat: 'ann', tool: 'take', arguments: { count: 1 } }
    const origin = { seal: parent.seal as string, step: 2, seed: null, answer: 'Nobody knows.', call }
    const { line: child, sent } = await matches.play('seed', origin, parent)
    expect(child.steps[0]).toMatchObject({ seat: 'ann', action: { tool: 'take', arguments: { count: 1 } } })
    expect(child.seats.ann?.start).toMatchObject({ observation: { text: 'Nobody knows.' } })
    const again = { seal: child.seal as string, step: 2, seed: null }
    const { line: grandchild, sent: later } = await matches.play('seed', again, child)
    expect(grandchild.seats.ann?.start).toEqual(child.seats.ann?.start)
    expect(JSON.stringify(later.ann?.at(-1))).toContain('Nobody knows.')
    expect(later.ann?.slice(0, 1)).toEqual(sent.ann?.slice(0, 1))
    for (const line of [child, grandchild])
      expect(replayed(nim, line, origins, { steps: 5 })).toMatchObject({ kind: 'reproduced' })

    const edit = (change: (line: MatchRecord) => MatchRecord) => replayed(nim, change(child), origins, { steps: 5 })
    const { ann, bob } = child.seats as { ann: MatchRecord['seats'][string]; bob: MatchRecord['seats'][string] }
    expect(edit((line) => ({ ...line, turn: ['bob'] }))).toMatchObject({ divergence: { step: 0, field: 'turn.0' } })
    const shown = { ...bob, start: { observation: { text: '', structured: null }, potential: null, messages: ['Hi.'] } }
    expect(edit((line) => ({ ...line, seats: { ann, bob: shown } }))).toMatchObject({
      divergence: { step: 0, field: expect.stringMatching(/^start\.bob/) },
    })
    expect(edit((line) => ({ ...line, seats: { bob, ann: { ...ann, success: !ann.success } } }))).toMatchObject({
      divergence: { field: 'seats.ann.success' },
    })
    const [first, ...rest] = parent.steps as [MatchRecord['steps'][number], ...MatchRecord['steps']]
    origins.set(parent.seal as string, { ...parent, steps: [{ ...first, stateHash: 'another' }, ...rest] })
    expect(replayed(nim, child, origins, { steps: 5 })).toMatchObject({ kind: 'diverged', steps: 0 })
  })
})
