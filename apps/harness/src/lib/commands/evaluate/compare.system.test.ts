import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { comparisonSchema } from '@episodic/report/compare/comparison'
import { contrastsSchema } from '@episodic/report/compare/contrasts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COIN_WORLD, exampleWorld, openWorkshop, readEpisodes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const ESCAPE = String.fromCharCode(27)
const at = (...path: string[]) => join(workshop.folder, ...path)

async function play(policy: string, out: string, ...more: string[]): Promise<void> {
  const { status, err } = await workshop.main([
    'run',
    world,
    '--tasks',
    '40',
    '--policy',
    policy,
    '--out',
    out,
    ...more,
  ])
  expect([status, err]).toEqual([0, expect.not.stringContaining('error')])
}

async function compare(a: string, b: string, ...more: string[]) {
  const { status, out, err } = await workshop.main(['compare', a, b, '--json', ...more])
  expect(err).toBe('')
  return { status, comparison: comparisonSchema.parse(JSON.parse(out)) }
}

beforeAll(async () => {
  await play('careless', 'careless', '--rollouts', '3')
  await play('solver', 'solver', '--rollouts', '3')
  await play('random', 'random')
})

describe('episodic compare', () => {
  it('shows that the solver is better, by how much, and in which tasks', async () => {
    const { status, comparison } = await compare('careless', 'solver')
    expect(status).toBe(0)
    expect(comparison).toMatchObject({
      environment: 'number-guessing@1.1.0',
      a: { policy: 'careless', finished: 120, failed: 0, unresolved: 0 },
      b: { policy: 'solver', finished: 120 },
      configuration: [{ key: 'policy.name', a: '"careless"', b: '"solver"' }],
      tasks: { shared: 40, compared: 40, onlyA: { count: 0 }, onlyB: { count: 0 } },
      success: { b: 1, effect: 'higher', lower: 0 },
      return: { effect: 'higher' },
      episodes: { paired: 120, lost: { count: 0 } },
    })
    const solved = (run: string) => readEpisodes(at(run)).filter(({ returns }) => (returns?.unshaped ?? 0) > 0).length
    expect(comparison.episodes.gained.count).toBe(solved('solver') - solved('careless'))
    const { out, err } = await workshop.main(['compare', 'careless', 'solver'])
    expect(out).toContain('B solves more, and it earns more.')
    expect(out).toContain('Paired over 40 tasks')
    expect(out).toContain('episodic bundle careless solver --compare --out')
    expect(out + err).not.toContain(ESCAPE)
  })

  it('compares several runs with a baseline, each over the tasks that both have', async () => {
    await play('solver', 'few', '--tasks', '25')
    const runs = ['careless', 'solver', 'random', 'few']
    const { status, out } = await workshop.main(['compare', ...runs, '--baseline', 'solver', '--json'])
    expect(status).toBe(0)
    const contrasts = contrastsSchema.parse(JSON.parse(out))
    expect(contrasts).toMatchObject({
      baseline: 'solver',
      tasks: { compared: 40, leftOut: 0 },
      leftOut: [],
      runs: [
        { name: 'solver', finished: 120, tasks: 40 },
        { name: 'careless', tasks: 40 },
        { name: 'random', finished: 40 },
        { name: 'few', finished: 25, tasks: 25 },
      ],
      contrasts: [
        { run: 'careless', tasks: 40 },
        { run: 'random', tasks: 40 },
        { run: 'few', tasks: 25 },
      ],
    })
    const [careless, random, few] = contrasts.contrasts
    expect(few).toMatchObject({ run: 'few', success: { effect: 'same', holm: 1 }, return: { effect: 'same' } })
    expect(random?.success.difference.mean).toBeLessThan(-0.8)
    expect(random?.return.holm).toBeLessThan(0.05)
    // Three contrasts: the smallest p-value counts three times.
    expect(random?.return.holm).toBeCloseTo(3 * (random?.return.p as number), 12)
    // The pair by itself: a run with few tasks takes none from the others.
    const pair = (await compare('solver', 'careless')).comparison
    expect(careless?.success.p).toBe(pair.success?.p)
    expect(careless?.success.difference.mean).toBeCloseTo(pair.success?.difference.mean as number, 12)
    const shown = await workshop.main(['compare', ...runs])
    expect([shown.status, shown.out]).toEqual([0, expect.stringContaining('3 runs against careless')])
    expect(shown.out).toMatch(/random +success +−.* points .* p < 0\.001 +\d.* points +lower/)
    const wrong = await workshop.main(['compare', ...runs, '--baseline', 'nowhere'])
    expect(wrong.err).toContain('--baseline nowhere is none of the runs: careless, solver, random, few.')
  })

  it('rejects runs that cannot be compared, and names the difference', async () => {
    writeFileSync(at('coin.ts'), COIN_WORLD)
    await workshop.main(['run', './coin.ts', '--tasks', '3', '--policy', 'random', '--out', 'coin'])
    await play('solver', 'weighted', '--file', '{"weights":{"solved":2}}')
    await play('solver', 'elsewhere', '--seed', 'another')
    const refused: Record<string, RegExp> = {
      coin: /environment\.name: "number-guessing" in solver, "coin" in coin/,
      weighted: /weights\.solved: not given in solver, 2 in weighted/,
      elsewhere: /The runs share no task/,
      nowhere: /nowhere holds no run/,
    }
    for (const [run, message] of Object.entries(refused)) {
      const { status, out, err } = await workshop.main(['compare', 'solver', run])
      expect([status, out, err]).toEqual([1, '', expect.stringMatching(message)])
      expect(err).toMatch(/^error: /)
    }
    // Of more than two, each that cannot be compared is named with why, and the others are compared.
    await play('careless', 'cut')
    truncateSync(at('cut', 'episodes.jsonl'))
    const many = ['cut', 'solver', 'coin', 'careless', 'weighted']
    const { status, out, err } = await workshop.main(['compare', ...many, '--json'])
    expect([status, err]).toEqual([0, ''])
    expect(contrastsSchema.parse(JSON.parse(out))).toMatchObject({
      baseline: 'solver',
      runs: [{ name: 'solver' }, { name: 'careless' }],
      leftOut: [
        { run: 'cut', why: 'It has no sealed episode. The baseline is solver instead.' },
        { run: 'coin', why: expect.stringContaining('environment.name') },
        { run: 'weighted', why: expect.stringContaining('weights.solved') },
      ],
      contrasts: [{ run: 'careless' }],
    })
    const shown = await workshop.main(['compare', ...many])
    expect(shown.out).toContain('Left out: cut. It has no sealed episode.')
    // A baseline that was named is not replaced.
    const chosen = await workshop.main(['compare', ...many, '--baseline', 'cut'])
    expect([chosen.status, chosen.err]).toEqual([1, expect.stringContaining('cut: It has no sealed episode.')])
  })
})
