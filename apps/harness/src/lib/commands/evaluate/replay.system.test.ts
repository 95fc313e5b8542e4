import { randomUUID } from 'node:crypto'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rehearse } from '@episodic/mcp-server'
import { loadWorld } from '@episodic/play/worlds/world'
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

let workshop: Workshop
let guessing: EpisodeRecord[]

const worldOf = ['--world', exampleWorld('number-guessing')]

beforeAll(async () => {
  workshop = openWorkshop()
  const guess = ['run', exampleWorld('number-guessing'), '--policy', 'random', '--tasks', '20', '--out', 'guessing']
  expect(await workshop.main(guess)).toMatchObject({ status: 0 })
  guessing = readEpisodes(join(workshop.folder, 'guessing'))
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
})
