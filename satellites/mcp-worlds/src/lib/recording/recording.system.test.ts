import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomPolicy, runEpisode, scriptedPolicy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { EpisodeRecord, WireError } from '@episodic/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineMcpEnvironment } from '../environment/define-mcp-environment.ts'
import type { McpEnvironmentSpec, Score } from '../environment/mcp-environment-spec.ts'
import { NOTES, openWorld, useOwnTemporaryFolder } from '../fixtures/notes.fixture.ts'
import { RecordingWriter } from './recording-writer.ts'

afterAll(useOwnTemporaryFolder())

const call = (tool: string, args = {}) => ({ tool, arguments: args })
const add = (text: string) => call('add', { text })
const list = call('list')
const done = (answer?: string) => call('done', answer === undefined ? {} : { answer })

const params = z.object({ note: z.string().default('milk') })
type Note = z.output<typeof params>
const score: Score<Note> = async ({ call, params }) => {
  const { structured } = await call('list')
  const { notes } = structured as { readonly notes: string[] }
  return notes.includes(params.note) ? 1 : 0.25
}
/** Wants one note more than the one that its set-up writes. */
const spec: Omit<McpEnvironmentSpec<typeof params>, 'server' | 'recording'> = {
  name: 'noting',
  params,
  observe: ({ note }) => `Note: ${note}.`,
  setup: async ({ call, rng }) => void (await call('add', { text: `first-${rng.int(1, 1_000_000)}` })),
  score,
}
type Played = Pick<EpisodeRecord, 'steps' | 'outcome' | 'returns'>

/** Plays an episode as a run does, and returns what its line has of it. */
async function play(
  environment: EnvironmentDefinition,
  { actions, seed, note = 'milk' }: { actions: readonly ReturnType<typeof call>[]; seed: string; note?: string },
): Promise<EpisodeRecord> {
  await using world = await openWorld(environment)
  const policy = scriptedPolicy(actions)
  const createEnvironment = () => world.connection.environment()
  const episode = await runEpisode({ createEnvironment, policy, task: { params: { note } }, seed })
  const record = {
    start: episode.start,
    task: { id: note, prompt: `Note ${note}.`, difficulty: 0, split: 'train', tags: [] },
    params: { note },
    seed,
    chain: JSON.stringify([seed, actions]),
    environment: { name: environment.name, version: environment.version },
    steps: episode.steps.map(({ action, observation, info }) => ({ action, observation, prepared: info.prepared })),
    outcome:
      episode.kind === 'finished'
        ? { kind: 'finished', end: episode.end, success: episode.success }
        : { kind: 'failed', error: failureOf(episode.cause) },
  }
  return record as unknown as EpisodeRecord
}

function failureOf(cause: unknown) {
  const { code, message } = cause as WireError
  return { code, message }
}

const PLAYED = [
  { actions: [add('milk'), list, done('That is all.')], seed: 'one' },
  { actions: [add('milk'), call('random'), done()], seed: 'two' },
  { actions: [add('milk'), call('random'), done()], seed: 'three' },
  { actions: [add('eggs'), call('photo'), done()], seed: 'one', note: 'eggs' },
  { actions: [call('fail'), add('bread')], seed: 'four', note: 'eggs' },
]

describe('a recording of episodes', async () => {
  let folder: string
  let file: string
  let live: EnvironmentDefinition
  let records: EpisodeRecord[]
  let recorded: EnvironmentDefinition
  const written = (episodes: readonly EpisodeRecord[], volatile: readonly string[] = []) => {
    const writer = new RecordingWriter(episodes[0]!.environment, live.madeOf, volatile)
    for (const episode of episodes) writer.add(episode)
    return writer.finish()
  }
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recording-'))
    live = await defineMcpEnvironment({ ...spec, server: NOTES })
    records = []
    for (const episode of PLAYED) records.push(await play(live, episode))
    file = await write('noting.jsonl', written(records).text)
    recorded = await defineMcpEnvironment({ recording: file })
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('gives every episode its answers, its score and its states again, without the server', async () => {
    for (const [i, episode] of PLAYED.entries()) {
      const again = await play(recorded, episode)
      const { steps, outcome, start } = records[i] as EpisodeRecord & Played
      expect(again.start?.observation.text).toBe(start?.observation.text)
      expect(again.steps.map(({ observation }) => observation)).toEqual(steps.map(({ observation }) => observation))
      expect(again.outcome).toEqual(outcome)
    }
    expect(recorded).toMatchObject({ name: 'noting', version: '1.0.0', forkable: true, hasSuccess: true })
    expect(recorded.toolInfos).toEqual(live.toolInfos)
  })

  it('is the same text for the same episodes, in any order', async () => {
    expect(written(records.toReversed())).toEqual(written([...records, ...records]))
    expect(written(records).counts).toEqual({ episodes: 5, tasks: 2, calls: 18, scores: 4, variants: 0, leftOut: 0 })
  })

  it('is made of its own episodes too, under other names of tools, with their scores', async () => {
    const tools = { rename: { add: 'note_down' } }
    const renamed = await defineMcpEnvironment({ recording: file, tools })
    const [{ seed }] = PLAYED as [(typeof PLAYED)[number]]
    const actions = [call('note_down', { text: 'milk' }), list, done('That is all.')]
    const writer = new RecordingWriter(renamed, renamed.madeOf, [])
    writer.add(await play(renamed, { actions, seed }))
    const again = await defineMcpEnvironment({ recording: await write('again.jsonl', writer.finish().text) })
    expect((await play(again, { actions, seed })).outcome).toEqual(records[0]?.outcome)
  })

  it('holds nothing of the command that started the server', async () => {
    expect(await readFile(file, 'utf8')).not.toMatch(/notes-server|notes\.txt|process\.execPath/)
  })

  it('runs the functions of a world over its calls, if it has some', async () => {
    const environment = await defineMcpEnvironment({
      ...spec,
      recording: file,
      score: async (context) => {
        expect(context.transcript.map(({ tool }) => tool)).toEqual(['add', 'list'])
        return Number(await score(context)) * 2
      },
      success: (score) => score === 2,
    })
    const episode = await play(environment, { actions: [add('milk'), list, done('Another answer.')], seed: 'one' })
    expect(episode.outcome).toMatchObject({ kind: 'finished', success: true })
    const other = await play(environment, { actions: [add('milk'), done()], seed: 'another seed' })
    expect(other.outcome).toMatchObject({ kind: 'failed', error: { code: 'not-recorded' } })
  })

  it.each([
    [[list], /no answer to list\(\{\}\) as the first call|no answer to list\(\{\}\) after 1 calls.*first-/],
    [
      [add('milk'), add('eggs')],
      /no answer to add\(\{"text":"eggs"\}\) after 2 calls, .*add\(\{"text":"milk"\}\)\. Recorded there: list\(\{\}\)\. Play it/,
    ],
    [[add('milk'), list, done('So be it.')], /no answer to done\(\{"answer":"So be it\."\}\)/],
  ])('makes an episode void that does what none did: %j', async (actions, message) => {
    const { outcome } = await play(recorded, { actions, seed: 'one' })
    expect(outcome).toMatchObject({
      kind: 'failed',
      error: { code: 'not-recorded', message: expect.stringMatching(message) },
    })
  })

  it('is not opened with parameters that no episode had, and begins with its first task without any', async () => {
    const { outcome } = await play(recorded, { actions: [list], seed: 'one', note: 'tea' })
    expect(outcome).toMatchObject({
      error: { code: 'not-recorded', message: expect.stringMatching(/the parameters \{"note":"tea"\}/) },
    })
    await using world = await openWorld(recorded)
    await using episode = world.connection.environment()
    expect((await episode.reset()).observation.text).toBe('Note: eggs.')
  })

  it('is forked at any step, and goes on there', async () => {
    await using world = await openWorld(recorded)
    await using episode = world.connection.environment()
    await episode.reset({ params: { note: 'milk' } }, { seed: 'one' })
    await episode.step(add('milk'))
    const [fork] = await episode.fork()
    expect((await fork!.step(list)).observation.text).toMatch(/milk/)
    expect((await episode.step(list)).observation.text).toMatch(/milk/)
    expect((await fork!.step(done('That is all.'))).reward.total).toBe(1)
  })

  it('lists the calls that lead to an end, which the random policy plays', async () => {
    await using world = await openWorld(recorded)
    for (const seed of ['one', 'two', 'a', 'b', 'c', 'd']) {
      const task = { params: { note: 'milk' } }
      const createEnvironment = () => world.connection.environment()
      const episode = await runEpisode({ createEnvironment, policy: randomPolicy(), task, seed })
      expect(episode).toMatchObject({ kind: 'finished', success: true })
    }
  })

  it('joins what differs in volatile fields alone', async () => {
    const plain = await defineMcpEnvironment({ server: NOTES, name: 'plain' })
    const random = [call('random'), add('milk'), done()]
    const one = await play(plain, { actions: random, seed: 'one' })
    const two = await play(plain, { actions: [call('random'), add('eggs'), done()], seed: 'two' })
    const writer = (volatile: string[]) => {
      const made = new RecordingWriter(one.environment, plain.madeOf, volatile)
      made.add(one)
      made.add(two)
      return made.finish()
    }
    expect([writer([]).counts.variants, writer(['random/.*/']).counts.variants]).toEqual([1, 0])
    const apart = await defineMcpEnvironment({ recording: await write('apart.jsonl', writer([]).text) })
    const joined = await defineMcpEnvironment({
      recording: await write('joined.jsonl', writer(['random/.*/', 'add(text)']).text),
    })
    for (const [actions, seed] of [
      [random, 'one'],
      [[call('random'), add('eggs'), done()], 'two'],
    ] as const)
      expect((await play(apart, { actions, seed })).outcome.kind).toBe('finished')
    expect((await play(apart, { actions: random, seed: 'two' })).outcome.kind).toBe('failed')
    const last = await play(joined, { actions: [call('random'), add('tea'), done()], seed: 'two' })
    expect(last).toMatchObject({
      outcome: { kind: 'finished' },
      steps: [{}, { observation: { text: 'Noted: eggs' } }, {}],
    })
  })
})

describe('a file that is no recording', () => {
  it.each([
    [{}, /needs either a server or a recording of one, and has neither/],
    [{ server: NOTES, recording: 'x.jsonl' }, /has both/],
    [{ recording: new URL('./recording.ts', import.meta.url) }, /recording\.ts:1 is not a line of a recording/],
  ])('is %j', async (given, message) => {
    await expect(defineMcpEnvironment(given)).rejects.toThrow(message)
  })
})
