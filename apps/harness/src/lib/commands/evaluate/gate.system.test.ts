import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bisecting, startChatServer } from '@episodic/models/chat-server.fixture'
import { summarySchema } from '@episodic/report/fold/summary'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Ended, exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (...path: string[]) => join(workshop.folder, ...path)
const world = exampleWorld('number-guessing')
const readText = (...path: string[]) => readFileSync(at(...path), 'utf8')

/** A name of a player that could be markup, a link, a mention, the end of a cell, and a workflow command. */
const HOSTILE = '<b>"x"&|@me ]]>::error title=a,b::100%'

/** The environment of a job, or of none. */
const LOCAL = { GITHUB_ACTIONS: '', GITHUB_STEP_SUMMARY: '' }
const gate = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  workshop.main(['gate', ...args], { env: { ...LOCAL, ...env } })

async function decisionsOf(args: readonly string[]) {
  const { status, out } = await gate([...args, '--json'])
  const { verdict, passed, runs } = JSON.parse(out)
  return { status, verdict, passed, runs, decisions: runs[0].decisions }
}

async function play(args: readonly string[]): Promise<void> {
  const { status, err } = await workshop.main(['run', world, ...args])
  expect([status, err]).toEqual([0, expect.not.stringContaining('error')])
}

beforeAll(async () => {
  await play(['--tasks', '40', '--rollouts', '2', '--policy', 'solver', '--out', 'solver'])
  await play(['--tasks', '40', '--rollouts', '2', '--policy', 'careless', '--out', 'careless'])
  await play(['--tasks', '40', '--policy', 'random', '--out', 'random'])
  writeFileSync(at('players.json'), JSON.stringify([{ policy: 'solver' }, { name: HOSTILE, policy: 'random' }]))
  const set = [exampleWorld('frozen-lake'), '--policies', 'players.json', '--tasks', '12', '--set', 'zoo']
  const played = await workshop.main(['run', world, ...set])
  expect(played.status).toBe(0)
})

describe('episodic gate', () => {
  it('is met, missed or undecided by the interval, with the figures of the report', async () => {
    const summary = summarySchema.parse(JSON.parse(readText('careless', 'summary.json')))
    const { rate, low, high } = summary.success.overall
    const met = await decisionsOf(['careless', '--success', '>=70%', '--steps', '<=12', '--return', '<=0.9'])
    expect([met.status, met.verdict, met.passed]).toEqual([0, 'met', true])
    const close = (value: number | null | undefined) => expect.closeTo(value as number, 12)
    expect(met.decisions).toMatchObject([
      { name: 'failed', value: 0, verdict: 'met' },
      { name: 'success', value: close(rate), low: close(low), high: close(high), tasks: 40, verdict: 'met' },
      {
        name: 'return',
        value: close(summary.returns.unshaped?.mean.mean),
        low: close(summary.returns.unshaped?.mean.low),
        verdict: 'met',
      },
      { name: 'steps', verdict: 'met' },
    ])
    const undecided = await decisionsOf(['careless', '--success', '>=0.8'])
    expect([undecided.status, undecided.verdict]).toEqual([3, 'undecided'])
    const [, success] = undecided.decisions
    expect(success.detectable).toBeGreaterThan(0.08)
    expect(success.tasksNeeded).toBeGreaterThan(40)
    const missed = await decisionsOf(['random', '--success', '>=0.8', '--truncated', '<=1%'])
    expect([missed.status, missed.verdict, missed.passed]).toEqual([3, 'missed', false])
    const allowed = await gate(['careless', '--success', '>=0.8', '--undecided', 'pass'])
    expect([allowed.status, allowed.out]).toEqual([0, expect.stringContaining('Passed: 1 condition undecided')])
    expect(allowed.out).toMatch(/So many tasks show a distance of [\d.]+ points from the limit; about \d+ tasks/)
    const still = await gate(['random', '--success', '>=0.8', '--undecided', 'pass'])
    expect([still.status, still.out]).toEqual([3, expect.stringContaining('Not passed: 1 condition missed')])
  })

  it('compares with a run by task, and says how many tasks a margin needs', async () => {
    const marginless = await gate(['solver', '--not-worse', 'random', '--success', '>=0.5'])
    expect([marginless.status, marginless.err]).toEqual([2, expect.stringContaining('--not-worse needs --margin')])
    await play(['--tasks', '40', '--rollouts', '2', '--policy', 'solver', '--out', 'copy'])
    const equal = await decisionsOf(['copy', '--not-worse', 'solver', '--margin', '3points'])
    expect([equal.status, equal.verdict]).toEqual([3, 'undecided'])
    expect(equal.decisions[1]).toMatchObject({ name: 'not worse than solver', value: 0, tasks: 40 })
    const needed = equal.decisions[1].tasksNeeded
    expect(needed).toBeGreaterThan(150)
    await play(['--tasks', String(needed), '--policy', 'solver', '--out', 'enough'])
    await play(['--tasks', String(needed), '--policy', 'solver', '--out', 'again'])
    const enough = await decisionsOf(['again', '--not-worse', 'enough', '--margin', '3points'])
    expect([enough.status, enough.decisions[1].tasksNeeded]).toEqual([0, null])
    const worse = await decisionsOf(['random', '--not-worse', 'solver', '--margin', '3 points'])
    expect([worse.status, worse.verdict]).toEqual([3, 'missed'])
    expect(worse.runs[0].lost.count).toBeGreaterThan(25)
    expect(worse.runs[0].notes).toContain('rollouts also differs: 2 in solver, 1 in this run.')
    const better = await gate(['solver', '--not-worse', 'random', '--margin', '3points'])
    expect([better.status, better.out]).toEqual([0, expect.stringMatching(/Of two equal runs, so many tasks show a/)])
  })

  it('does not pass where a run is compared with itself alone', async () => {
    cpSync(at('solver'), at('same'), { recursive: true })
    await gate(['solver', '--write-baseline', 'same'])
    for (const [run, baseline] of [
      ['solver', 'solver'],
      ['same', 'solver'],
      ['solver', 'baselines/../same'],
      ['solver', 'same'],
      ['runs/zoo', 'runs/zoo'],
    ] as const) {
      const { status, out } = await gate([run, '--not-worse', baseline, '--margin', '3points'])
      expect([run, status]).toEqual([run, 1])
      expect(out.replace(/\s+/g, ' ')).toContain(`Nothing was compared: ${baseline} is this run itself.`)
    }
    const alone = await gate(['runs/zoo', '--player', 'solver', '--not-worse', 'solver', '--margin', '3points'])
    expect([alone.status, alone.out]).toEqual([1, expect.stringContaining('Nothing was compared')])
  })

  it('keeps a baseline in a file, which stands for the run where only the repository is', async () => {
    const written = await gate(['solver', '--write-baseline', 'main'])
    expect([written.status, written.out]).toEqual([0, 'baselines/main.json\n'])
    const first = readText('baselines', 'main.json')
    expect(first.split('\n').filter((line) => line.includes('"plays"'))).toHaveLength(40)
    await gate(['solver', '--write-baseline', 'main'])
    expect(readText('baselines', 'main.json')).toBe(first)
    expect(first).not.toContain(workshop.folder)
    const byName = await decisionsOf(['careless', '--not-worse', 'main', '--margin', '3points'])
    const byRun = await decisionsOf(['careless', '--not-worse', 'solver', '--margin', '3points'])
    expect(byName.decisions[1]).toEqual({ ...byRun.decisions[1], name: 'not worse than main' })
    expect(byName.runs[0].lost).toEqual(byRun.runs[0].lost)
    writeFileSync(at('baselines', 'broken.json'), '{"format":1,"runs":[]}')
    const broken = await gate(['careless', '--not-worse', 'broken', '--margin', '3points'])
    expect([broken.status, broken.err]).toEqual([1, expect.stringContaining('cannot be read as a baseline')])
    const none = await gate(['careless', '--not-worse', 'nothing', '--margin', '3points'])
    expect([none.status, none.err]).toEqual([
      2,
      expect.stringContaining('Write one of a run: episodic gate <run> --write-baseline nothing'),
    ])
    const careless = ['careless', '--success', '>=99%', '--write-baseline', 'missed']
    expect((await gate(careless)).status).toBe(3)
    expect(existsSync(at('baselines', 'missed.json'))).toBe(false)
    const solver = await gate(['solver', '--success', '>=50%', '--write-baseline', 'met'])
    expect([solver.status, solver.out]).toEqual([0, expect.stringMatching(/\nbaselines\/met\.json\n$/)])
    const outside = await gate(['solver', '--write-baseline', '../main'])
    expect([outside.status, outside.err]).toEqual([2, expect.stringContaining('cannot name a baseline')])
  })

  it('never takes what has no result for zeros: too much of it is missed, and the rest is decided', async () => {
    cpSync(at('solver'), at('cut'), { recursive: true })
    const lines = readText('cut', 'episodes.jsonl').trimEnd().split('\n')
    writeFileSync(at('cut', 'episodes.jsonl'), `${lines.slice(0, 70).join('\n')}\n`)
    const cut = await decisionsOf(['cut', '--success', '>=0.5'])
    expect([cut.status, cut.verdict]).toEqual([3, 'missed'])
    expect(cut.decisions).toMatchObject([
      { name: 'failed', value: 0.125, verdict: 'missed', notes: ['Of 80 episodes, 10 were not played.'] },
      { name: 'success', value: 1, verdict: 'met' },
    ])
    expect((await gate(['cut', '--success', '>=0.5', '--failed', '<=20%'])).status).toBe(0)
    writeFileSync(
      at('breaking.mjs'),
      `export const policy = { name: 'breaking', start: ({ seed }) => {
        if (/^[0-3]/.test(seed)) throw new Error('broken')
        return () => ({ tool: 'guess', arguments: { value: 1 } })
      } }`,
    )
    const played = await workshop.main(['run', world, '--tasks', '40', '--policy', './breaking.mjs', '--out', 'void'])
    expect(played.status).toBe(0)
    const broken = await gate(['void', '--success', '<=0.9', '--failed', '<=80%', '--junit', 'void.xml'])
    expect([broken.status, broken.out]).toEqual([0, expect.stringContaining('failed and not in the rate')])
    const { suites } = readJunit('void.xml')
    const errors = suites[0]?.cases.filter(({ error }) => error)
    expect(errors?.length).toBeGreaterThan(2)
    expect(errors?.[0]).toMatchObject({
      name: expect.stringMatching(/^task [0-9a-f]{32}$/),
      error: {
        type: 'policy-failed',
        message: '1 of 1 attempts failed: policy-failed. Solved in 0 of 0 finished attempts.',
      },
    })
    expect(suites[0]).toMatchObject({ failures: 0, errors: errors?.length })
  })

  it('decides tokens and cost of a model, and stops where the run has none', async () => {
    const server = await startChatServer(bisecting)
    const model = [
      '--policy',
      'llm:bisect',
      '--base-url',
      server.url,
      '--tasks',
      '6',
      '--file',
      '{"prices":{"prompt":2,"completion":10}}',
    ]
    await play([...model, '--out', 'priced'])
    await server[Symbol.asyncDispose]()
    const priced = await decisionsOf(['priced', '--cost', '<=1', '--tokens', '>=1000'])
    expect(priced.decisions).toMatchObject([{}, { name: 'tokens', verdict: 'met' }, { name: 'cost', verdict: 'met' }])
    const { cost } = summarySchema.parse(JSON.parse(readText('priced', 'summary.json'))).tokens ?? {}
    expect(priced.decisions[2].value).toBeCloseTo((cost as number) / 6, 12)
    const none = await gate(['solver', '--cost', '<=2', '--success', '>=0.5'])
    expect([none.status, none.out]).toEqual([1, expect.stringMatching(/Not decided: solver has no cost.*with prices/)])
  })

  it('gates every run of a set, those of one player, and one player by another', async () => {
    const all = await decisionsOf(['runs/zoo', '--return', '>=-50'])
    expect([all.status, all.runs.length]).toEqual([0, 4])
    const own = await decisionsOf(['runs/zoo', '--player', 'solver', '--success', '>=0.1'])
    expect(own.runs.map(({ player }: { player: string }) => player)).toEqual(['solver', 'solver'])
    const other = await decisionsOf(['runs/zoo', '--player', HOSTILE, '--not-worse', 'solver', '--margin', '3points'])
    expect(other.runs).toMatchObject([
      { world: 'number-guessing', decisions: [{}, { verdict: 'missed' }] },
      { world: 'frozen-lake', decisions: [{}, { name: 'not worse than solver' }] },
    ])
    await gate(['runs/zoo', '--write-baseline', 'zoo'])
    const kept = await decisionsOf(['runs/zoo/frozen-lake', '--not-worse', 'zoo', '--margin', '60points'])
    expect([kept.status, kept.runs]).toMatchObject([1, [{ baseline: 'zoo' }, { baseline: 'zoo' }]])
    const stranger = await gate(['careless', '--not-worse', 'runs/zoo/frozen-lake', '--margin', '3points'])
    expect([stranger.status, stranger.out]).toEqual([1, expect.stringContaining('has no run of number-guessing.')])
  })

  it('writes JUnit XML, a job summary and an annotation, whatever the names are', async () => {
    writeFileSync(at('step.md'), 'before\n')
    const { status, out, err } = await gate(
      ['runs/zoo', '--success', '>=0.99', '--steps', '<=1', '--junit', 'ci/gate.xml', '--json'],
      { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: at('step.md') },
    )
    expect([status, JSON.parse(out).verdict]).toEqual([3, 'missed'])
    const { suites, names } = readJunit('ci/gate.xml')
    expect(suites.map(({ name }) => name)).toContain(`number-guessing · ${HOSTILE}`)
    expect(suites[0]).toMatchObject({ tests: 15, failures: 2, errors: 0 })
    expect(suites[0]?.cases.slice(0, 3)).toMatchObject([
      { classname: 'number-guessing.solver', name: 'gate: failed' },
      { name: 'gate: success', failure: { type: 'undecided' } },
      { name: 'gate: steps', failure: { type: 'missed', message: expect.stringMatching(/^steps is .*: missed\.$/) } },
    ])
    // The same names for other figures.
    await gate(['runs/zoo', '--success', '>=0.5', '--steps', '<=100', '--junit', 'again.xml'])
    expect(readJunit('again.xml').names).toEqual(names)
    const [before, head, ...shown] = readText('step.md').split('\n')
    expect([before, head]).toEqual(['before', expect.stringMatching(/^## ❌ Not passed: \d+ conditions missed/)])
    expect(shown.join('\n')).toContain(`    number-guessing · ${HOSTILE}  `)
    for (const line of shown) expect(line).toMatch(/^( {4}|$)/)
    expect(err.split('\n').filter((line) => line.startsWith('::'))).toEqual([
      `::error title=episodic gate::${head?.slice('## ❌ '.length)}`,
    ])
  })

  it('has status 1 for what cannot be read or compared, and 2 for what cannot be asked', async () => {
    mkdirSync(at('empty'))
    cpSync(at('runs'), at('partial'), { recursive: true })
    const [{ run }] = JSON.parse(readText('partial', 'zoo', 'set.json')).worlds[1].members
    rmSync(at('partial', 'zoo', run), { recursive: true })
    const partial = await gate(['partial/zoo', '--return', '>=-50', '--junit', 'partial.xml'])
    expect([partial.status, partial.out]).toEqual([1, expect.stringContaining('Not decided: It is not played yet.')])
    expect(partial.out).toContain('Error: not all could be decided, 1 run with a problem')
    expect(readJunit('partial.xml').suites[2]?.cases).toMatchObject([{ name: 'gate', error: { type: 'problem' } }])
    const wrong: [status: number, args: string[], words: RegExp][] = [
      [1, ['empty', '--success', '>=0.8'], /empty holds neither a run nor a set of runs/],
      [2, ['solver'], /needs a condition/],
      [2, ['solver', '--success', '0.8'], /Write >= or <= and a share/],
      [2, ['solver', '--success', '>=80'], /from 0 to 1 or in per cent/],
      [2, ['solver', '--steps', '<=5%'], /Write >= or <= and a number/],
      [2, ['solver', '--success', '>=0.8', '--margin', '3points'], /--margin is of --not-worse/],
      [2, ['solver', '--not-worse', 'random', '--margin', '0.03'], /percentage points above 0/],
      [2, ['solver', '--success', '>=0.8', '--player', 'solver'], /this is one run: leave it out/],
      [2, ['runs/zoo', '--success', '>=0.8', '--player', 'best'], /--player best is no player of the set: solver, /],
    ]
    for (const [status, args, words] of wrong) {
      const ended = await gate(args)
      expect([args, ended.status, ended.err]).toEqual([args, status, expect.stringMatching(words)])
    }
  })
})

interface JunitCase {
  readonly classname: string
  readonly name: string
  readonly failure?: { readonly message: string; readonly type: string }
  readonly error?: { readonly message: string; readonly type: string }
}

/** Reads JUnit XML as a reader of it does. */
function readJunit(file: string) {
  const text = readText(file)
  expect(XMLValidator.validate(text)).toBe(true)
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseAttributeValue: false,
    isArray: (name) => name === 'testsuite' || name === 'testcase',
  })
  const { testsuites } = parser.parse(text)
  const suites = (
    testsuites.testsuite as { name: string; tests: string; failures: string; errors: string; testcase: JunitCase[] }[]
  ).map(({ name, tests, failures, errors, testcase }) => ({
    name,
    tests: Number(tests),
    failures: Number(failures),
    errors: Number(errors),
    cases: testcase,
  }))
  expect(Number(testsuites.tests)).toBe(suites.reduce((sum, { cases }) => sum + cases.length, 0))
  return { suites, names: suites.map(({ cases }) => cases.map(({ classname, name }) => [classname, name])) }
}
