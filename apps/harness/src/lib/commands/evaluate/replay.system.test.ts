import { randomUUID } from 'node:crypto'
import { appendFileSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rehearse } from '@episodic/mcp-server'
import type { EpisodeRecord, RecordedStep } from '@episodic/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  COIN_WORLD,
  exampleWorld,
  openWorkshop,
  readEpisodes,
  sealAgain,
  type Workshop,
} from '../../fixtures/episodic.fixture.ts'
import { loadWorld } from '../../worlds/world.ts'

let workshop: Workshop
let guessing: EpisodeRecord[]
let text: Buffer

const worldOf = ['--world', exampleWorld('number-guessing')]

beforeAll(async () => {
  workshop = openWorkshop()
  const guess = ['run', exampleWorld('number-guessing'), '--policy', 'random', '--tasks', '20', '--out', 'guessing']
  expect(await workshop.main(guess)).toMatchObject({ status: 0 })
  guessing = readEpisodes(join(workshop.folder, 'guessing'))
  text = readFileSync(join(workshop.folder, 'guessing', 'episodes.jsonl'))
  writeWorld('coin.ts', COIN_WORLD)
  expect(
    await workshop.main(['run', './coin.ts', '--policy', 'random', '--tasks', '9', '--out', 'coin']),
  ).toMatchObject({ status: 0 })
})
afterAll(() => workshop[Symbol.dispose]())

function writeWorld(file: string, source: string): void {
  writeFileSync(join(workshop.folder, file), source)
}

/** Writes a file of sealed episodes. */
function writeEpisodes(file: string, records: readonly unknown[]): string {
  writeFileSync(join(workshop.folder, file), records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  return file
}

/** The folder of the recorded guessing, with other lines. */
function copyRun(folder: string, records: readonly unknown[]): string {
  cpSync(join(workshop.folder, 'guessing'), join(workshop.folder, folder), { recursive: true })
  writeEpisodes(join(folder, 'episodes.jsonl'), records)
  return folder
}

/** The recorded guessing, with one episode changed. */
function changed(index: number, change: (record: EpisodeRecord) => object): unknown[] {
  return guessing.map((record, i) => (i === index ? { ...record, ...change(record) } : record))
}

async function replay(run: string, ...options: string[]) {
  const { status, out, err } = await workshop.main(['replay', run, ...options, '--json'])
  return { status, err, summary: out === '' ? null : JSON.parse(out) }
}

describe('episodic replay', () => {
  it('reproduces what a run recorded', async () => {
    const { status, summary, err } = await replay('guessing', ...worldOf)
    expect(err).toBe('')
    expect(status).toBe(0)
    const steps = guessing.reduce((sum, record) => sum + record.steps.length, 0)
    expect(summary).toMatchObject({
      episodes: 20,
      replayed: 20,
      diverged: 0,
      notReplayable: 0,
      strict: 20,
      steps,
      divergences: [],
    })
  })

  it.each([
    ['observation.text', 2, (step: RecordedStep) => ({ observation: { ...step.observation, text: 'You won.' } })],
    [
      'terms.cost',
      1,
      (step: RecordedStep) => ({ reward: { ...step.reward, terms: { ...step.reward.terms, cost: 1 } } }),
    ],
    ['potential', 1, () => ({ potential: 0.25 })],
    ['stateHash', 2, () => ({ stateHash: '0'.repeat(32) })],
  ])('names the only edited field: %s', async (field, step, edit) => {
    const index = guessing.findIndex(({ steps }) => steps.length >= 2)
    const records = changed(index, ({ steps }) => ({
      steps: steps.map((played, i) => (i === step - 1 ? { ...played, ...edit(played) } : played)),
    }))
    const { status, summary, err } = await replay(writeEpisodes('edited.jsonl', records), ...worldOf)
    expect(status).toBe(1)
    expect(err).toContain('1 of 20 episodes differ from their replay.')
    const { task, attempt } = guessing[index] as EpisodeRecord
    expect(summary).toMatchObject({ diverged: 1, replayed: 19 })
    expect(summary.divergences).toMatchObject([{ task: task.id, attempt, step, field, cause: 'edited' }])
  })

  it('names an edited end, and an edited chain', async () => {
    const terminated = guessing.findIndex(
      ({ outcome }) => outcome.kind === 'finished' && outcome.end.kind === 'terminated',
    )
    const ended = changed(terminated, () => ({
      outcome: { kind: 'finished', end: { kind: 'terminated', reason: 'bribed' } },
    }))
    const { summary } = await replay(writeEpisodes('ended.jsonl', ended), ...worldOf)
    expect(summary.divergences).toMatchObject([{ field: 'end.reason', recorded: '"bribed"', cause: 'edited' }])
    const chained = writeEpisodes(
      'chained.jsonl',
      changed(0, () => ({ chain: 'f'.repeat(32) })),
    )
    expect((await replay(chained, ...worldOf)).summary.divergences).toMatchObject([
      { step: null, field: 'chain', recorded: `"${'f'.repeat(32)}"`, cause: 'edited' },
    ])
  })

  it('distinguishes an edited line from a changed world, even if the editor recomputed its chain', async () => {
    const forged = changed(0, (record) => {
      const steps = record.steps.map((step) => ({ ...step, potential: 0.125 }))
      return sealAgain({ ...record, steps })
    })
    const { status, summary } = await replay(writeEpisodes('forged.jsonl', forged), ...worldOf)
    expect(status).toBe(1)
    expect(summary.divergences).toMatchObject([{ step: 1, field: 'potential', cause: 'world-changed' }])
  })

  it('finds where a changed world with an unchanged version diverges, and prints it for people too', async () => {
    writeWorld('kinder.ts', COIN_WORLD.replace("'right' ? 1 : 0", "'right' ? 1 : 0.5"))
    const { status, summary } = await replay('coin', '--world', './kinder.ts')
    expect(status).toBe(1)
    const wrong = readEpisodes(join(workshop.folder, 'coin')).filter(({ returns }) => returns?.unshaped === 0).length
    expect(wrong).toBeGreaterThan(0)
    expect(summary.diverged).toBe(wrong)
    expect(summary.divergences[0]).toMatchObject({
      step: 1,
      field: 'terms.right',
      recorded: '0',
      replayed: '0.5',
      cause: 'world-changed',
    })
    const { out, err } = await workshop.main(['replay', 'coin', '--world', './kinder.ts'])
    expect(out).toContain('step 1 differs in terms.right\n  recorded  0\n  replayed  0.5\n')
    expect(out).toContain('A change of behavior needs a new version.')
    expect(err).toContain(`${wrong} of 9 episodes`)
  })

  it.each([
    ["say('It fell.', {})", 'say(String(Math.random()), {})', /uses Math\.random.*use rng/],
    ["say('It fell.', {})", 'say(String(Date.now()), {})', /uses the date of today.*use now/],
  ])('names the source of nondeterminism in the rules: %s → %s', async (before, after, meaning) => {
    // A file of its own, since a module that was imported stays loaded.
    const file = `chancy-${randomUUID()}.ts`
    writeWorld(file, COIN_WORLD.replace(before, after))
    const { status, summary } = await replay('coin', '--world', `./${file}`)
    expect(status).toBe(1)
    expect(summary.diverged).toBe(9)
    expect(summary.divergences[0]).toMatchObject({ step: 1, field: 'observation.text', cause: 'rules-failed' })
    expect(summary.divergences[0].meaning).toMatch(meaning)
  })

  it('finds nondeterministic rules by replaying twice, if no known source is detected', async () => {
    const kept = COIN_WORLD.replace("say('It fell.', {})", 'say(String(tosses++), {})').replace(
      'export const environment',
      'let tosses = 0\nexport const environment',
    )
    writeWorld('counting.ts', kept)
    const { summary } = await replay('coin', '--world', './counting.ts')
    expect(summary.divergences[0]).toMatchObject({ field: 'observation.text', cause: 'not-deterministic' })
  })

  it('rejects a world of another version', async () => {
    writeWorld('newer.ts', COIN_WORLD.replace("version: '1.0.0'", "version: '1.1.0'"))
    const { status, summary, err } = await replay('coin', '--world', './newer.ts')
    expect({ status, summary }).toEqual({ status: 1, summary: null })
    expect(err).toMatch(/was recorded in coin 1\.0\.0, and the world here is coin 1\.1\.0/)
  })

  it('skips an incomplete last line, and reports it', async () => {
    const file = writeEpisodes('torn.jsonl', guessing.slice(0, 3))
    appendFileSync(join(workshop.folder, file), JSON.stringify(guessing[3]).slice(0, -40))
    const { status, summary, err } = await replay(file, ...worldOf)
    expect(status).toBe(0)
    expect(err).toContain('Line 4 of episodes.jsonl is torn')
    expect(summary).toMatchObject({ episodes: 3, replayed: 3 })
  })

  it('replays a run without sealed episodes', async () => {
    mkdirSync(join(workshop.folder, 'begun'))
    copyFileSync(join(workshop.folder, 'guessing', 'run.json'), join(workshop.folder, 'begun', 'run.json'))
    const { status, summary } = await replay('begun', ...worldOf)
    expect({ status, summary }).toMatchObject({
      status: 0,
      summary: { episodes: 0, steps: 0, stepsPerSecond: 0, missing: 20 },
    })
    expect(await workshop.main(['replay', 'nowhere'])).toMatchObject({
      status: 1,
      err: expect.stringContaining('There is no run at nowhere'),
    })
    expect(await workshop.main(['replay'])).toMatchObject({ status: 2, err: expect.stringContaining('or --matrix') })
  })

  it('names a line that is not a valid episode', async () => {
    const file = writeEpisodes('wrong.jsonl', [guessing[0], { format: 2 }, guessing[1]])
    const { status, err } = await replay(file, ...worldOf)
    expect(status).toBe(1)
    expect(err).toContain('line 2 is not a sealed episode: run: Invalid input')
  })

  it('replays a failed episode up to its failure, and counts episodes that never started', async () => {
    const index = guessing.findIndex(({ steps }) => steps.length >= 2)
    const record = guessing[index] as EpisodeRecord
    const { steps } = record
    const outcome = { kind: 'failed', error: { code: 'policy-failed', message: 'It gave up.' } } as const
    const sealed = (change: Partial<EpisodeRecord>) => sealAgain({ ...record, ...change, outcome, returns: null })
    const file = writeEpisodes('failed.jsonl', [
      sealed({ steps: steps.slice(0, 1) }),
      sealed({ start: null, steps: [], attempt: 1 }),
    ])
    const { status, summary } = await replay(file, ...worldOf)
    expect(status).toBe(0)
    expect(summary).toMatchObject({ episodes: 2, replayed: 1, notReplayable: 1, steps: 1, diverged: 0 })
  })

  it('prints the steps of one episode, up to its divergence', async () => {
    const { task, attempt, steps } = guessing[0] as EpisodeRecord
    const one = ['replay', 'guessing', ...worldOf, '--task', task.id.slice(0, 20), '--attempt', String(attempt)]
    const { status, out } = await workshop.main(one)
    expect(status).toBe(0)
    for (const { action, observation } of steps) {
      expect(out).toContain(`guess ${JSON.stringify(action.arguments)}\n     ${observation.text.split('\n')[0]}`)
    }
    expect(out).toContain('1 episodes: 1 reproduced.')
    const { status: none, err } = await workshop.main(['replay', 'guessing', ...worldOf, '--task', 'none'])
    expect(none).toBe(2)
    expect(err).toContain('holds no episode of task none')
  })

  it('explains --world for a file of lines whose world is not found by name', async () => {
    const { status, err } = await workshop.main(['replay', 'coin/episodes.jsonl'])
    expect(status).toBe(2)
    expect(err).toMatch(/There is no world "coin".*--world/)
  })

  it.each([
    [[]],
    [['--file', '{"weights":{"cost":0.3,"solved":7}}']],
    [['--shaping', '--file', '{"discount":0.9}', '--file', '{"weights":{"cost":3}}']],
  ])('recomputes the rewards and returns of a run, to the last bit: %s', async (scored) => {
    const out = `scored${scored.length}`
    const run = ['run', exampleWorld('number-guessing'), '--policy', 'random', '--tasks', '12', '--out', out]
    expect((await workshop.main([...run, ...scored])).status).toBe(0)
    expect(await replay(out, ...worldOf)).toMatchObject({
      status: 0,
      summary: { replayed: 12, missing: 0, notChecked: [] },
    })
    const manifest = join(workshop.folder, out, 'run.json')
    const { configuration, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'))
    const weights = { ...configuration.weights, cost: 0.5 }
    writeFileSync(manifest, JSON.stringify({ ...rest, configuration: { ...configuration, weights } }))
    const { status, summary } = await replay(out, ...worldOf)
    expect({ status, diverged: summary.diverged }).toEqual({ status: 1, diverged: 12 })
    expect(summary.divergences[0]).toMatchObject({ step: 1, field: 'reward.total', cause: 'score-edited' })
  })

  it('finds raised rewards and returns, even if they fit each other and every chain', async () => {
    const forged = changed(3, (record) => {
      const steps = record.steps.map((step) => ({ ...step, reward: { ...step.reward, total: 50 } }))
      const total = 50 * steps.length
      return sealAgain({ ...record, steps, returns: { total, unshaped: total, discounted: total } })
    })
    const { status, summary } = await replay(copyRun('overpaid', forged), ...worldOf)
    expect(status).toBe(1)
    expect(summary.divergences).toMatchObject([
      { step: 1, field: 'reward.total', recorded: '50', cause: 'score-edited' },
    ])
  })

  it.each(['step-limit', 'time-limit'] as const)(
    'finds a game truncated before its loss by a %s that was never set',
    async (reason) => {
      const { environment } = await loadWorld(exampleWorld('number-guessing'))
      const index = guessing.findIndex(({ steps }) => steps.length >= 2)
      const forged = changed(index, (record) => {
        const { params, seed } = record
        const { action, milliseconds } = record.steps[0] as RecordedStep
        const played = rehearse(environment, { params, seed }).play(action.tool, action.arguments, {
          truncation: reason,
        })
        const { observation, terms, potential, refused, stateHash } = played
        const total = Object.values(terms).reduce((sum, term) => sum + term, 0)
        const reward = { total, terms, shaping: 0 }
        const steps = [{ action, observation, reward, potential, refused, stateHash, milliseconds }]
        const outcome = { kind: 'finished', end: { kind: 'truncated', reason } } as const
        const returns = { total, unshaped: total, discounted: total }
        return sealAgain({ ...record, steps, outcome, returns })
      })
      const { status, summary } = await replay(copyRun(`cut-${reason}`, forged), ...worldOf)
      expect(status).toBe(1)
      expect(summary.divergences).toMatchObject([{ step: null, field: 'end', replayed: 'null' }])
    },
  )

  it('accepts the step limit of the run', async () => {
    const run = ['run', exampleWorld('number-guessing'), '--policy', 'random', '--tasks', '9', '--max-steps', '2']
    expect((await workshop.main([...run, '--out', 'limited'])).status).toBe(0)
    const cut = readEpisodes(join(workshop.folder, 'limited')).filter(({ steps }) => steps.length === 2)
    expect(cut.length).toBeGreaterThan(0)
    expect(await replay('limited', ...worldOf)).toMatchObject({ status: 0, summary: { replayed: 9 } })
  })

  it('says on one line what lines without their run cannot show', async () => {
    const file = writeEpisodes('alone.jsonl', guessing)
    const { status, out } = await workshop.main(['replay', file, ...worldOf])
    expect(status).toBe(0)
    expect(out).toMatch(
      /^Not checked: task, .*policy, .*reward\.total, reward\.shaping, returns\.discounted, end closed, .*an agent played\.$/m,
    )
    expect((await workshop.main(['replay', 'guessing', ...worldOf])).out).not.toContain('Not checked')
  })

  it('counts the episodes that a run lacks, and fails if it had sealed all of them', async () => {
    const lacking = copyRun('lacking', [...guessing.slice(0, 17), guessing[0]])
    const { status, summary, err } = await replay(lacking, ...worldOf)
    expect({ status, summary }).toMatchObject({ status: 1, summary: { episodes: 18, replayed: 18, missing: 3 } })
    expect(err).toContain("3 of 20 episodes are missing, but the run's summary says that all were sealed.")
    const one = await replay(lacking, ...worldOf, '--task', (guessing[0] as EpisodeRecord).task.id)
    expect(one).toMatchObject({ status: 0, summary: { missing: null } })
    rmSync(join(workshop.folder, lacking, 'episodes.jsonl'))
    expect(await replay(lacking, ...worldOf)).toMatchObject({ status: 1, summary: { episodes: 0, missing: 20 } })
    rmSync(join(workshop.folder, lacking, 'summary.json'))
    const stopped = await replay(lacking, ...worldOf)
    expect(stopped).toMatchObject({ status: 0, summary: { missing: 20 } })
    expect(stopped.err).toContain('20 of 20 episodes are missing: the run was stopped.')
  })

  it('does not change the run', () => {
    expect(readFileSync(join(workshop.folder, 'guessing', 'episodes.jsonl')).equals(text)).toBe(true)
  })
})
