import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { summarySchema } from '@episodic/report/fold/summary'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const TASKS = 20
const run = (out: string, until: string, ...more: string[]) =>
  workshop.main(['run', world, '--policy', 'careless', '--tasks', `${TASKS}`, '--until', until, '--out', out, ...more])
const fileOf = (out: string, name: string) => JSON.parse(readFileSync(join(workshop.folder, out, name), 'utf8'))
const namesOf = (out: string) =>
  readEpisodes(join(workshop.folder, out))
    .map(({ task, attempt, chain }) => `${task.id} ${attempt} ${chain}`)
    .sort()

describe('episodic run --until', () => {
  it('plays whole rounds until success is known so well, and is a whole run then', async () => {
    const { status, err } = await run('narrow', '±8points', '--rollouts', '40')
    const rounds = Number(
      /Ended after (\d+) of 40 rollouts: success on these tasks is [\d.]+ % ± ([\d.]+) points/.exec(err)?.[1],
    )
    expect(status).toBe(0)
    expect(rounds).toBeGreaterThan(2)
    expect(rounds).toBeLessThan(40)
    const { counts } = summarySchema.parse(fileOf('narrow', 'summary.json'))
    expect(counts).toMatchObject({ scheduled: rounds * TASKS, finished: rounds * TASKS, unresolved: 0 })
    expect(fileOf('narrow', 'run.json').scheduled).toBe(rounds * TASKS)
    expect((await workshop.main(['replay', 'narrow'])).status).toBe(0)
    const again = await run('narrow', '±8points', '--rollouts', '40', '--resume')
    expect(again.status).toBe(0)
    expect(namesOf('narrow')).toHaveLength(rounds * TASKS)
  })

  it('plays what is missing, and ends at the same episode', async () => {
    const whole = namesOf('narrow')
    const file = join(workshop.folder, 'narrow', 'episodes.jsonl')
    const lines = readFileSync(file, 'utf8').split('\n')
    writeFileSync(file, `${lines.slice(0, TASKS + 5).join('\n')}\n`)
    expect((await run('narrow', '±8points', '--rollouts', '40', '--resume')).status).toBe(0)
    expect(namesOf('narrow')).toEqual(whole)
  })

  it.each([
    ['>=50%', 'met'],
    ['<=30%', 'missed'],
  ])('decides about %s: %s', async (until, verdict) => {
    const { status, err } = await run(`decided ${verdict}`, until, '--rollouts', '30')
    expect([status, err]).toEqual([0, expect.stringMatching(new RegExp(`Ended after . of 30 .* is ${verdict}`))])
  })

  it('plays until the difference from another run is known so well, or decided', async () => {
    const base = await run('base', '±0.1points', '--rollouts', '40')
    expect([base.status, base.err]).toEqual([0, expect.not.stringContaining('Ended')])
    const [narrow, decided] = [
      await run('difference', '±14points', '--baseline', 'base', '--rollouts', '40'),
      await run('worse', '>=-25points', '--baseline', 'base', '--rollouts', '40'),
    ]
    expect([narrow.status, narrow.err]).toEqual([
      0,
      expect.stringMatching(/Ended after \d+ of 40 .*success on these tasks is [+−\d.]+ ± [\d.]+ points from base\./),
    ])
    expect([decided.status, decided.err]).toEqual([0, expect.stringMatching(/>= −25\.0 points is met/)])
    expect(fileOf('difference', 'run.json').configuration.until).toBe('±14points from base')
    const before = namesOf('difference')
    expect((await run('difference', '±14points', '--baseline', 'base', '--rollouts', '40', '--resume')).status).toBe(0)
    expect(namesOf('difference')).toEqual(before)
  })

  it.each([
    ['±1points', ['--baseline', 'base', '--seed', '1'], 1, /no baseline of this run.*seed: "0" in the baseline/s],
    ['±1points', ['--baseline', 'base'], 2, /cannot be reached: base is itself known to ± [\d.]+ points only/],
    ['>=80%', ['--baseline', 'base'], 2, /the difference from a --baseline in points, as >=-3points/],
    ['>=-3points', [], 2, /the limit of a rate is in %/],
    ['>=-3%', [], 2, /the limit of a rate is in % and not below 0/],
    ['±9points', ['--baseline', 'forked'], 2, /forked forks its rollouts \(--branch\), so it is no baseline/],
  ] as const)('refuses %s %j', async (until, more, code, message) => {
    const forked = ['run', world, '--tasks', `${TASKS}`, '--rollouts', '2', '--branch', '2@1', '--out', 'forked']
    if (more[1] === 'forked') await workshop.main(forked)
    const { status, err } = await run('refused', until, '--rollouts', '9', ...more)
    expect([status, err, existsSync(join(workshop.folder, 'refused'))]).toEqual([
      code,
      expect.stringMatching(message),
      false,
    ])
  })

  it('takes self-play as a baseline where both seats can win, and says why it does not for a zero sum', async () => {
    const selfPlay = (named: string, policy: string, ...more: string[]) =>
      workshop.main(['run', named, '--policy', policy, '--tasks', '10', '--out', `${policy} ${more.length}`, ...more])
    const from = (policy: string) => ['--rollouts', '20', '--until', '>=-3points', '--baseline', policy]
    const support = exampleWorld('phone-support')
    expect((await selfPlay(support, 'random', '--rollouts', '4')).status).toBe(0)
    const { status, err } = await selfPlay(support, 'solver', ...from('random 2'))
    expect([status, err]).toEqual([0, expect.stringMatching(/success on these tasks is \+.* from random 2: .* is met/)])
    expect((await selfPlay('kuhn-poker', 'random', '--rollouts', '4', '--seed', '0')).status).toBe(0)
    for (const policy of ['solver', 'random'])
      expect(await selfPlay('kuhn-poker', policy, ...from('random 4'), '--seed', '0')).toMatchObject({
        status: 2,
        err: expect.stringMatching(/what a seat is worth, and not who plays better.* as --seat second=random/),
      })
  })

  it.each([
    ['2', [], /Give a width, as ±2points, or what to decide, as >=80%/],
    ['±2points', [], /--until plays rounds of all tasks: give --rollouts 2 or more/],
    ['±2points', ['--rollouts', '8', '--branch', '2@1'], /no --branch or --stages/],
  ] as const)('refuses %s %j', async (until, more, message) => {
    const { status, err } = await run('refused', until, ...more)
    expect([status, err]).toEqual([2, expect.stringMatching(message)])
  })
})
