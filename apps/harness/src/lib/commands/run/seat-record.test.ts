import { replayEpisode } from '@episodic/analysis/replay/replay-episode'
import { connect, definePolicy, type Policy, randomPolicy } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess } from '@episodic/mcp-server'
import { declaredAction } from '@episodic/mcp-server/internal'
import { createRunTask } from '@episodic/play/play/episodes/rollout'
import { sealed } from '@episodic/play/play/record/seal-episode'
import { chainOf, type MatchRecord, parseSealedRecord, type Reward, sealOf, type Task } from '@episodic/protocol'
import { createMatchFold } from '@episodic/report/fold/match-fold'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { environment as meeting } from '../../fixtures/meeting.fixture.ts'
import { environment as nim, policies, solver } from '../../fixtures/nim.fixture.ts'

const GAMES = { nim, meeting }
const SCORING = { weights: { won: 2 }, shaping: false, discount: 0.9 }

/** Plays one match with a policy in each seat, and returns its line as it is read. */
async function play(
  environment: EnvironmentDefinition,
  seats: { readonly [seat: string]: Policy },
  { seed = '0', limits = {} }: Partial<Pick<Task, 'seed' | 'limits'>> = {},
): Promise<MatchRecord> {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const { name, version } = environment
  const task: Task = {
    id: `task-${seed}`,
    environment: { name, version },
    tools: [],
    prompt: 'Play.',
    hints: [],
    params: {},
    seed,
    difficulty: 0,
    limits,
    split: 'train',
    tags: [],
    metadata: {},
  }
  const runTask = createRunTask({
    play: { createGame: () => connection.game(name), maxSteps: null, weights: SCORING.weights },
    players: seats,
    seed,
    discount: SCORING.discount,
    accept: (action) => declaredAction(environment, action),
  })
  const context = { run: 'r', signal: new AbortController().signal, now: () => 0 }
  const [record] = await runTask({ task, attempt: 0 }, context)
  return parseSealedRecord(JSON.parse(JSON.stringify(record))).data as MatchRecord
}

/** The policy, and the texts that it was shown in each seat. */
function watched({ name, start }: Policy, shown: Record<string, string[]>): Policy {
  return definePolicy({
    name,
    async start(context) {
      const player = await start(context)
      const texts: string[] = []
      shown[context.seat as string] = texts
      return (observation, view) => {
        texts.push(observation.text)
        return player(observation, view)
      }
    },
  })
}

const anyGame = fc.constantFrom('nim' as const, 'meeting' as const)
const replayed = (game: keyof typeof GAMES, record: MatchRecord) =>
  replayEpisode(
    GAMES[game],
    { record, whole: chainOf(record) === record.chain && sealOf(record) === record.seal },
    { strict: true, scoring: SCORING, limits: {}, declaredOnly: true },
  )

describe('a match as the episode of one seat', () => {
  it('has what its policy saw, and all that the seat earned', async () => {
    await fc.assert(
      fc.asyncProperty(anyGame, fc.string({ minLength: 1 }), async (game, seed) => {
        const shown: Record<string, string[]> = {}
        const policy = watched(randomPolicy(), shown)
        const match = await play(GAMES[game], { ann: policy, bob: policy }, { seed })
        for (const seat of ['ann', 'bob']) {
          const { start, steps, returns } = seatRecordOf(match, seat)
          const seen = [start, ...steps].map((one) => one?.observation.text)
          expect(seen.slice(0, -1)).toEqual([start?.observation.text, ...(shown[seat] ?? []).slice(1)])
          const earned = match.steps.map(({ rewards }) => rewards[seat]?.total ?? 0)
          expect(returns?.total).toBeCloseTo(
            earned.reduce((sum, reward) => sum + reward, 0),
            9,
          )
          expect(steps.reduce((sum, { reward }) => sum + reward.total, 0)).toBeCloseTo(returns?.total ?? 0, 9)
        }
      }),
      { numRuns: 20 },
    )
  })

  it('weighs the terms, and discounts by the steps of the seat', async () => {
    const match = await play(nim, { ann: solver, bob: randomPolicy() })
    const { ann, bob } = match.seats
    expect(ann).toMatchObject({ end: { reason: 'empty' }, success: true })
    expect(bob).toMatchObject({ success: false })
    const { steps } = seatRecordOf(match, 'ann')
    const won = steps.findIndex(({ reward }) => reward.terms.won === 1)
    expect(won).toBe(steps.length - 1)
    expect(steps[won]?.reward.total).toBeCloseTo(2 + (steps[won]?.reward.terms.stones as number), 12)
    expect(ann?.returns?.discounted).toBeLessThan(ann?.returns?.total as number)
  })

  it('has no return for any seat if a policy throws, and names the seat', async () => {
    const match = await play(nim, { ann: solver, bob: policies.broken })
    expect(match.outcome).toMatchObject({ kind: 'failed', seat: 'bob', error: { message: 'out of order' } })
    for (const seat of ['ann', 'bob'])
      expect(seatRecordOf(match, seat)).toMatchObject({
        outcome: { kind: 'failed', error: { message: 'Seat bob: out of order' } },
        returns: null,
      })
    const fold = createMatchFold({ seats: ['ann', 'bob'], focus: 'ann', discount: 1 })
    fold.add(match)
    expect(fold.finish({ name: 'r' })).toMatchObject({
      counts: { finished: 0, failed: 1 },
      seats: [
        { name: 'ann', faults: 0, return: null },
        { name: 'bob', faults: 1, return: null },
      ],
    })
  })
})

describe('the replay of a match', () => {
  it('reproduces random play of either game, however it ends', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyGame,
        fc.string({ minLength: 1 }),
        fc.integer({ min: 1, max: 9 }),
        async (game, seed, steps) => {
          const match = await play(
            GAMES[game],
            { ann: randomPolicy(), bob: randomPolicy() },
            { seed, limits: { steps } },
          )
          expect(match.outcome).toEqual({ kind: 'finished' })
          expect(
            replayEpisode(
              GAMES[game],
              { record: match, whole: true },
              { strict: true, scoring: SCORING, limits: { steps }, declaredOnly: true },
            ),
          ).toEqual({ kind: 'reproduced', steps: match.steps.length })
        },
      ),
      { numRuns: 20 },
    )
  })

  it('reproduces the step that the server took for a seat that had none left', async () => {
    const match = await play(nim, { ann: policies.broken, bob: policies.broken }, { limits: { steps: 1 } })
    expect(match.steps.map(({ seat, action }) => `${seat} ${action.tool}`)).toEqual([
      'ann take',
      'bob take',
      'ann absent',
    ])
    expect(match.seats).toMatchObject({ ann: { end: { reason: 'forfeit' }, returns: { unshaped: -1.99 } } })
    expect(replayed('nim', match)).toEqual({ kind: 'reproduced', steps: 3 })
  })

  const edits: readonly (readonly [string, (match: MatchRecord) => unknown])[] = [
    ['the seat of a step', ({ steps }) => Object.assign(steps[0] as object, { seat: 'bob' })],
    ['the action of a step', ({ steps }) => Object.assign(steps[0]?.action.arguments as object, { count: 2 })],
    ['what another seat earned', ({ steps }) => Object.assign(steps.at(-1)?.rewards.ann?.terms as object, { won: 3 })],
    ['what another seat saw', ({ steps }) => Object.assign(steps[0]?.seats.views.bob as object, { text: 'You win.' })],
    ['a text for another seat', ({ steps }) => Object.assign(steps[0]?.seats.sent as object, { bob: ['Hello.'] })],
    ['who may act', ({ steps }) => Object.assign(steps[0]?.seats as object, { turn: ['ann'] })],
    [
      'how it ended for a seat',
      ({ seats }) => Object.assign(seats.ann as object, { end: { kind: 'terminated', reason: 'x' } }),
    ],
    ['whether a seat succeeded', ({ seats }) => Object.assign(seats.ann as object, { success: false })],
    ['the return of a seat', ({ seats }) => Object.assign(seats.bob?.returns as object, { unshaped: 9 })],
    ['the first view of a seat', ({ seats }) => Object.assign(seats.bob?.start?.observation as object, { text: 'x' })],
    ['the weighted reward', ({ steps }) => Object.assign(steps[0]?.rewards.ann as object, { total: 9 })],
  ]
  it.each(edits)('finds an edited line: %s', async (_, edit) => {
    const finished = await play(nim, { ann: solver, bob: randomPolicy() })
    edit(finished)
    expect(replayed('nim', finished)).toMatchObject({ kind: 'diverged', divergence: { cause: 'edited' } })
    // Also by the rules alone, if somebody sealed the edited line again.
    const resealed = replayEpisode(nim, { record: finished, whole: true }, { strict: true, scoring: SCORING })
    expect(resealed.kind).toBe('diverged')
  })

  /** Seals an edited match again, as its run would. */
  const sealedAgain = (match: MatchRecord) => replayed('nim', sealed(match))

  it('distinguishes other rules from another scoring', async () => {
    const match = await play(nim, { ann: solver, bob: randomPolicy() })
    const paid = (reward: object) => ({
      ...match,
      steps: match.steps.map((step, i) =>
        i > 0 ? step : { ...step, rewards: { ...step.rewards, ann: { ...(step.rewards.ann as Reward), ...reward } } },
      ),
    })
    expect(sealedAgain(paid({ terms: { won: 7, stones: 0 } }))).toMatchObject({
      divergence: { step: 1, field: 'terms.ann.won', cause: 'world-changed' },
    })
    expect(sealedAgain(paid({ total: 7 }))).toMatchObject({
      divergence: { step: 1, field: 'rewards.ann.total', cause: 'score-edited' },
    })
  })

  it('finds returns that do not follow from the rewards, also without the scoring of the run', async () => {
    const match = await play(nim, { ann: solver, bob: randomPolicy() })
    const { bob } = match.seats as { readonly bob: MatchRecord['seats'][string] }
    const edited = { ...match, seats: { ...match.seats, bob: { ...bob, returns: { ...bob.returns, total: 9 } } } }
    const bare = { strict: true, scoring: null }
    expect(replayEpisode(nim, { record: sealed(edited as MatchRecord), whole: true }, bare)).toMatchObject({
      divergence: { step: null, field: 'returns.bob.total', recorded: '9', cause: 'score-edited' },
    })
    expect(replayEpisode(nim, { record: match, whole: true }, bare).kind).toBe('reproduced')
  })

  it('finds a return of a failed match (invariant 3)', async () => {
    const match = await play(nim, { ann: solver, bob: policies.broken })
    const { ann } = match.seats as { readonly ann: MatchRecord['seats'][string] }
    const returns = { total: 1, unshaped: 1, discounted: 1 }
    const edited = { ...match, seats: { ...match.seats, ann: { ...ann, returns } } }
    expect(sealedAgain(match).kind).toBe('reproduced')
    expect(sealedAgain(edited)).toMatchObject({ divergence: { step: null, field: 'returns.ann', replayed: 'null' } })
  })
})
