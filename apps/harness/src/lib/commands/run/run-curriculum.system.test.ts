import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EpisodeRecord } from '@episodic/protocol'
import { summarySchema } from '@episodic/report'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, sealAgain, withoutTimes } from '../../fixtures/episodic.fixture.ts'
import { has, startRedis } from '../../fixtures/programs.fixture.ts'

const workshop = openWorkshop()
const redis = has('redis-server') ? await startRedis() : null
afterAll(async () => {
  workshop[Symbol.dispose]()
  await redis?.[Symbol.asyncDispose]()
})
const world = exampleWorld('number-guessing')
const at = (...path: string[]) => join(workshop.folder, ...path)

/** Episodes that the policy plays before it holds all others until the file `open` exists. */
const PLAYED_AT_ONCE = 20
/** Solves about half of its episodes. */
const POLICY = `
import { appendFileSync, existsSync } from 'node:fs'
import { solver } from '${new URL(`file://${world}/src/index.ts`)}'
let begun = 0
export const policy = {
  name: 'half',
  async start(context) {
    begun += 1
    const isHeld = begun > ${PLAYED_AT_ONCE}
    const player = /[0-7]$/.test(context.seed)
      ? await solver.start(context)
      : () => ({ tool: 'guess', arguments: { value: Number(context.task.params.low) } })
    return async (observation, view) => {
      if (isHeld && !existsSync('open')) appendFileSync('held', '.')
      while (isHeld && !existsSync('open')) {
        view.signal?.throwIfAborted()
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      return player(observation, view)
    }
  },
}
`
const LAG = 8
const DRAWS = 60
const CONFIGURATION = [
  ...['run', world, '--policy', './half.ts', '--tasks', '10', '--rollouts', '2'],
  ...['--curriculum', 'adaptive', '--adaptive', `draws=${DRAWS},lag=${LAG},focus=3`],
]
const play = (out: string, ...options: string[]) => workshop.main([...CONFIGURATION, '--out', out, ...options])
const open = () => writeFileSync(at('open'), '')
const episodesOf = (out: string) => withoutTimes(readEpisodes(at(out)))

let alone: unknown[]
beforeAll(async () => {
  writeFileSync(at('half.ts'), POLICY)
  open()
  expect((await play('alone', '--concurrency', '1')).status).toBe(0)
  alone = episodesOf('alone')
})

describe('episodic run --curriculum', () => {
  it('writes with each episode where it was drawn, and the course of the curriculum in the summary', async () => {
    const episodes = readEpisodes(at('alone'))
    expect(episodes).toHaveLength(2 * DRAWS)
    const draws = new Map(episodes.map(({ curriculum, task }) => [curriculum?.draw, task.id]))
    expect([...draws.keys()].sort((a = 0, b = 0) => a - b)).toEqual(Array.from({ length: DRAWS }, (_, draw) => draw))
    const names = episodes.map(({ task, attempt }) => `${task.id} ${attempt}`)
    expect(new Set(names).size).toBe(2 * DRAWS)
    const { curriculum, counts } = summarySchema.parse(JSON.parse(readFileSync(at('alone', 'summary.json'), 'utf8')))
    expect(counts.scheduled).toBe(2 * DRAWS)
    expect(curriculum?.reduce((sum, { count }) => sum + count, 0)).toBe(2 * DRAWS)
    expect(curriculum?.at(-1)?.to).toBe(DRAWS)
    const { status, out } = await workshop.main(['replay', 'alone', '--json'])
    expect(status).toBe(0)
    expect(JSON.parse(out).redrawn).toEqual({ drawn: 2 * DRAWS, misdrawn: 0, first: null })
  })

  it('is drawn again by replay, which finds tasks that do not follow from the outcomes', async () => {
    const copy = (name: string) => {
      cpSync(at('alone'), at(name), { recursive: true })
      return { lines: readEpisodes(at(name)), file: at(name, 'episodes.jsonl'), manifest: at(name, 'run.json') }
    }
    const write = (file: string, lines: readonly EpisodeRecord[]) =>
      writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    // A copy or an edited run is not known to be this user's, so the world is named.
    const replay = (name: string) => workshop.main(['replay', name, '--world', world])

    const target = copy('target')
    writeFileSync(target.manifest, readFileSync(target.manifest, 'utf8').replace(/"target": ?0.5/, '"target":0.95'))
    const altered = await replay('target')
    expect(altered.status).toBe(1)
    expect(altered.err).toMatch(
      /The tasks do not follow from the outcomes: \d+ lines .* First, it draws task \S+ at draw/,
    )

    const moved = copy('moved')
    const third = moved.lines.find((line) => line.curriculum?.draw === 3)?.task.id
    const place = (draw = 0) => (draw === 3 ? 9 : draw === 9 ? 3 : draw)
    write(
      moved.file,
      moved.lines.map((line) => {
        const { draw = 0, stage = null } = line.curriculum ?? {}
        return sealAgain({ ...line, curriculum: { draw: place(draw), stage } })
      }),
    )
    const misplaced = await replay('moved')
    expect(misplaced.status).toBe(1)
    expect(misplaced.err).toContain(`4 lines are of episodes that the curriculum does not draw there`)
    expect(misplaced.err).toMatch(
      new RegExp(`First, it draws task ${third} at draw 3, and the line of its attempt \\d+ says draw 9\\.`),
    )

    const stopped = copy('stopped')
    rmSync(at('stopped', 'summary.json'))
    write(stopped.file, stopped.lines.slice(0, 50))
    expect((await replay('stopped')).status).toBe(0)
    write(stopped.file, [...stopped.lines.slice(0, 40), ...stopped.lines.slice(42)])
    const cut = await replay('stopped')
    expect(cut.status).toBe(1)
    expect(cut.err).toMatch(/First, it does not get to draw \d+/)
  })

  it.each([
    ['many at once', ['--concurrency', '16']],
    ['in two processes', ['--concurrency', '8', '--processes', '2']],
  ])('draws and plays the same %s', async (out, options) => {
    expect((await play(out, ...options)).status).toBe(0)
    expect(episodesOf(out)).toEqual(alone)
  })

  // Needs Redis: apt-get install redis-server
  it.skipIf(!redis)('draws and plays the same in a fleet', async () => {
    const queue = ['--queue', redis?.url ?? '']
    const worker = workshop.start(['work', world, ...queue, '--concurrency', '4'])
    expect((await play('fleet', ...queue)).status).toBe(0)
    worker.interrupt()
    await worker.ended
    expect(episodesOf('fleet')).toEqual(alone)
  })

  it('goes on after kill -9 with the tasks and episodes of a run that nothing disturbed', async () => {
    rmSync(at('open'))
    const run = workshop.start([...CONFIGURATION, '--out', 'killed', '--concurrency', '5'])
    await Promise.race([
      vi.waitFor(() => expect(readFileSync(at('held'), 'utf8')).toHaveLength(5), { timeout: 120_000, interval: 20 }),
      run.ended.then(({ err }) => Promise.reject(new Error(`It ended: ${err}`))),
    ])
    run.kill('SIGKILL')
    await run.ended
    const kept = readFileSync(at('killed', 'episodes.jsonl'), 'utf8')
    open()
    expect((await play('killed', '--concurrency', '11', '--resume')).status).toBe(0)
    expect(readFileSync(at('killed', 'episodes.jsonl'), 'utf8').startsWith(kept)).toBe(true)
    expect(episodesOf('killed')).toEqual(alone)
  })

  it.each([
    [['--curriculum', 'staged'], /--curriculum staged needs its stages/],
    [['--stages', '5@0..1'], /--stages is for --curriculum staged/],
    [['--adaptive', 'draws=5'], /--adaptive is for --curriculum adaptive/],
    [['--curriculum', 'adaptive', '--adaptive', 'speed=5'], /--adaptive has a wrong setting: .*speed/],
    [['--curriculum', 'adaptive', '--adaptive', 'target=1'], /--adaptive has a wrong setting: target/],
    [['--curriculum', 'staged', '--stages', '5@0.99..1', '--tasks', '1'], /Stage "1: 0.99 to 1" has no tasks/],
    [
      ['--curriculum', 'adaptive', '--policy', 'random', '--policy', 'solver'],
      /--curriculum .* is for a run of its own/,
    ],
  ])('refuses %j', async (options, message) => {
    const { status, err } = await workshop.main(['run', world, ...options, '--out', 'refused'])
    expect([status, err]).toEqual([2, expect.stringMatching(message)])
  })
})
