import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EpisodeRecord } from '@episodic/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, sealAgain } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (...path: string[]) => join(workshop.folder, ...path)
const GUESSING = exampleWorld('number-guessing')

/** A hash of all that a run's folder holds. */
const hashOf = (folder: string) =>
  globSync('**/*', { cwd: at(folder), withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .reduce((hash, file) => hash.update(file).update(readFileSync(file)), createHash('sha256'))
    .digest('hex')

async function continued(run: string, ...options: string[]) {
  const { status, out, err } = await workshop.main(['continue', run, ...options, '--json'])
  return { status, err, result: out === '' ? null : JSON.parse(out) }
}

const replay = async (run: string) => JSON.parse((await workshop.main(['replay', run, '--json'])).out)

/** The parts of steps that do not depend on the machine. */
const stepsOf = ({ steps }: EpisodeRecord) => steps.map(({ milliseconds: _, ...step }) => step)

let parent: EpisodeRecord[]
beforeAll(async () => {
  const played = await workshop.main([
    ...['run', GUESSING, '--policy', 'careless', '--tasks', '12', '--seed', 'c', '--out', 'june'],
  ])
  expect(played).toMatchObject({ status: 0 })
  parent = readEpisodes(at('june'))
})

describe('episodic continue', () => {
  it('plays on as the episode went on, from every step, if nothing is changed and the player draws the same', async () => {
    const longest = parent.toSorted((a, b) => b.steps.length - a.steps.length)[0] as EpisodeRecord
    for (const step of longest.steps.keys()) {
      const out = `same-${step}`
      const { status, result } = await continued(
        'june',
        '--task',
        longest.task.id,
        '--step',
        `${step + 1}`,
        '--out',
        out,
      )
      expect({ status, finished: result.changed.summary.counts.finished }).toEqual({ status: 0, finished: 8 })
      expect(result.control).toBeNull()
      // The first continuation has the seed of the episode itself.
      const first = readEpisodes(at(out)).find(({ attempt }) => attempt === 0) as EpisodeRecord
      expect(stepsOf(first)).toEqual(stepsOf({ ...longest, steps: longest.steps.slice(step) }))
      expect(first.outcome).toEqual(longest.outcome)
      expect(first.origin).toEqual({ seal: longest.seal, step, seed: null })
    }
  })

  it('compares an action with a control that has none, replays both, and leaves the run as it was', async () => {
    const before = hashOf('june')
    const { task } = parent.find(({ steps }) => steps.length > 3) as EpisodeRecord
    const options = ['--task', task.id, '--step', '3', '--rollouts', '6', '--out', 'guess']
    const { status, result } = await continued('june', ...options, '--call', 'guess', '{"value":1}')
    expect(status).toBe(0)
    expect(result).toMatchObject({
      points: [{ task: task.id, attempt: 0, after: 2 }],
      changes: { call: { tool: 'guess', arguments: { value: 1 } }, policy: 'careless' },
      rollouts: 6,
      changed: { folder: 'guess/changed', summary: { counts: { finished: 6 } } },
      control: { folder: 'guess/control', summary: { counts: { finished: 6 } } },
      partings: { pairs: 6, first: 3 },
    })
    const [changed] = readEpisodes(at('guess/changed')) as [EpisodeRecord]
    expect(changed.steps[0]?.action).toEqual({ tool: 'guess', arguments: { value: 1 } })
    for (const run of ['guess/changed', 'guess/control'])
      expect(await replay(run)).toMatchObject({ episodes: 6, replayed: 6, diverged: 0, missing: 0, unplanned: 0 })
    expect(hashOf('june')).toBe(before)
  })

  it('reads another answer to the player, and the state stays', async () => {
    const { task, steps } = parent.find(({ steps }) => steps.length > 4) as EpisodeRecord
    const options = ['--task', task.id, '--step', '2', '--rollouts', '2', '--no-control', '--out', 'answer']
    expect(await continued('june', ...options, '--answer', 'Nothing happens.')).toMatchObject({ status: 0 })
    const [first] = readEpisodes(at('answer')) as [EpisodeRecord]
    expect(first.start?.observation).toEqual({ ...steps[1]?.observation, text: 'Nothing happens.' })
    expect(first.origin).toMatchObject({ step: 2, answer: 'Nothing happens.' })
    expect(await replay('answer')).toMatchObject({ replayed: 2, diverged: 0 })
  })

  it('draws new chance for each continuation, and goes on from continuations too', async () => {
    const played = await workshop.main(['run', 'frozen-lake', '--policy', 'random', '--tasks', '3', '--out', 'lake'])
    expect(played).toMatchObject({ status: 0 })
    const [record] = readEpisodes(at('lake')) as [EpisodeRecord]
    const { task } = record
    const seeded = ['--task', task.id, '--step', '2', '--seed', '7', '--rollouts', '8', '--out', 'chance']
    expect(await continued('lake', ...seeded)).toMatchObject({ status: 0 })
    const lines = readEpisodes(at('chance/changed'))
    expect(new Set(lines.map(({ origin }) => origin?.seed)).size).toBe(8)
    expect(await replay('chance/changed')).toMatchObject({ replayed: 8, diverged: 0, missing: 0 })

    const longest = lines.toSorted((a, b) => b.steps.length - a.steps.length)[0] as EpisodeRecord
    const next = (longest.origin?.step ?? 0) + longest.steps.length
    // One step before the last, and a step of the episode that the continuation goes on from.
    for (const [i, step] of [next, 1].entries()) {
      const again = ['--task', task.id, '--attempt', `${longest.attempt}`, '--step', `${step}`, '--out', `again-${i}`]
      expect(await continued('chance/changed', ...again, '--rollouts', '2')).toMatchObject({ status: 0 })
      expect(await replay(`again-${i}`)).toMatchObject({ replayed: 2, diverged: 0, missing: 0 })
    }
  })

  it('continues all episodes that match a query, and counts each as a point', async () => {
    const { result } = await continued(
      'june',
      '--query',
      'steps>2',
      '--step',
      '2',
      '--policy',
      'solver',
      '--out',
      'all',
    )
    const points = parent.filter(({ steps }) => steps.length > 2).length
    expect(result.points).toHaveLength(points)
    expect(result.changed.summary.counts.finished).toBe(8 * points)
    expect(result.difference.success).toMatchObject({ low: expect.any(Number), high: expect.any(Number) })
    expect(result.difference.success.changed).toBeGreaterThan(result.difference.success.control)
  })
})

describe('episodic continue, asked for what cannot be', () => {
  const refused = async (run: string, ...options: string[]) => {
    const before = hashOf(run)
    const { status, err } = await continued(run, ...options, '--out', 'refused')
    expect(hashOf(run)).toBe(before)
    expect(existsSync(at('refused'))).toBe(false)
    expect(status).not.toBe(0)
    return err
  }
  const first = () => ['--task', parent[0]?.task.id as string]

  it.each([
    ['no step', [], 'Say from which step to go on'],
    ['step 0', ['--step', '0'], 'Step 0 is the start'],
    ['a step that there is not', ['--step', '400'], 'Give --step from 1 to'],
    ['another answer of the last step', ['--step', '400', '--answer', 'x'], 'Give --step from 0 to'],
    ['a tool that there is not', ['--step', '1', '--call', 'refund', '{}'], 'no tool "refund". Its tools are: guess'],
    ['a description of one', ['--step', '1', '--describe', 'refund=x'], 'no tool "refund"'],
    ['arguments that are no JSON', ['--step', '1', '--call', 'guess', '7'], 'its arguments as a JSON object'],
    [
      'a player that keeps its memory',
      ['--step', '1', '--policy', 'process:cat'],
      'Policies, solvers, scripts and llm',
    ],
    ['a player that there is not', ['--step', '1', '--policy', 'nobody'], 'There is no policy "nobody"'],
    ['a seat that there is not', ['--step', '1', '--seat', 'user=random'], 'has one seat'],
  ])('says so: %s', async (_, options, message) => {
    expect((await refused('june', ...first(), ...options)).replaceAll(/\s+/g, ' ')).toContain(message)
  })

  it('says so: no episode, and no query', async () => {
    expect(await refused('june', '--task', 'nothing', '--step', '1')).toContain('No episode in june matches')
    expect(await refused('june', '--step', '1')).toContain('Say which episodes to continue')
  })

  it('finds a line that was changed since it was sealed, there and in what the continuations keep', async () => {
    cpSync(at('june'), at('edited'), { recursive: true })
    const [line, ...rest] = parent as [EpisodeRecord, ...EpisodeRecord[]]
    const write = (lines: readonly EpisodeRecord[]) =>
      writeFileSync(at('edited/episodes.jsonl'), lines.map((one) => `${JSON.stringify(one)}\n`).join(''))
    write([{ ...line, task: { ...line.task, prompt: 'Win.' } }, ...rest])
    expect(await refused('edited', ...first(), '--step', '2')).toContain('was changed since it was sealed')
    // A line that was sealed again is whole, and the rules play otherwise.
    const steps = line.steps.map((step, i) =>
      i === 0 ? { ...step, observation: { ...step.observation, text: 'You win.' } } : step,
    )
    write([sealAgain({ ...line, steps }), ...rest])
    const { err } = await continued('edited', ...first(), '--step', '2', '--out', 'of-edited')
    expect(err).toContain('step 1 differs in observation.text')

    expect(await continued('june', ...first(), '--step', '2', '--out', 'kept')).toMatchObject({ status: 0 })
    const kept = readFileSync(at('kept/origins.jsonl'), 'utf8')
    writeFileSync(at('kept/origins.jsonl'), kept.replace('"difficulty":', '"difficulty":1'))
    const replayed = await workshop.main(['replay', 'kept', '--json'])
    expect(replayed.status).toBe(1)
    expect(replayed.err).toContain('was changed since it was sealed, so nothing can go on from it')
  })

  it('does not take another continuation for the one in its folder', async () => {
    expect(await continued('june', ...first(), '--step', '1', '--out', 'one')).toMatchObject({ status: 0 })
    const { err } = await continued('june', ...first(), '--step', '2', '--out', 'one', '--resume')
    expect(err).toContain('holds a run with another configuration')
    expect((await continued('june', ...first(), '--step', '1', '--out', 'one')).err).toContain('holds this run already')
  })
})
