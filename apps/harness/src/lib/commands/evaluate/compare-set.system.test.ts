import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type ChatServer, startChatServer } from '@episodic/models/chat-server.fixture'
import { pageContent } from '@episodic/pages/file/page-content.fixture'
import { type ComparedRuns, contrastsSchema } from '@episodic/report'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'
import { startViewing } from '../show/view/view.fixture.ts'

const workshop = openWorkshop()
const at = (...path: string[]) => join(workshop.folder, ...path)
let server: ChatServer
/** By world, then by player: the folder of the run, relative to that of the set. */
const runs: Record<string, Record<string, string>> = {}
const runOf = (world: string, player: string) => runs[world]?.[player] as string

/**
 * A set of two worlds: a player is stopped by its key in both, and of the second world only the solver has episodes.
 */
beforeAll(async () => {
  server = await startChatServer((_, __, response) => {
    response.writeHead(401).end('{"error":{"message":"Incorrect API key"}}')
    return null
  })
  const wrong = { name: 'wrong key', policy: 'llm:x', baseUrl: server.url }
  writeFileSync(at('two.json'), JSON.stringify([{ policy: 'solver' }, { policy: 'random' }]))
  writeFileSync(at('players.json'), JSON.stringify([{ policy: 'solver' }, { policy: 'random' }, wrong]))
  const played = await workshop.main([
    'run',
    exampleWorld('number-guessing'),
    exampleWorld('frozen-lake'),
    ...['--policies', 'players.json', '--tasks', '12', '--rollouts', '2', '--set', 'zoo', '--json'],
  ])
  for (const { world, player, run } of JSON.parse(played.out).members) {
    runs[world] ??= {}
    ;(runs[world] as Record<string, string>)[player] = run
  }
  truncateSync(at('runs/zoo', runOf('frozen-lake', 'random'), 'episodes.jsonl'))
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  workshop[Symbol.dispose]()
})

describe('episodic compare, of a set with stopped players', () => {
  it('leaves out and names who has no episode, and goes on with the other worlds', async () => {
    const { status, out, err } = await workshop.main(['compare', 'runs/zoo'])
    expect(status).toBe(0)
    expect(out).toMatch(/Left out: wrong-key-\S+\. It has no sealed episode\. It stopped \(model-refused\)/)
    expect(out).toContain('1 run against solver-')
    expect(err.split('\n')).toEqual([
      expect.stringMatching(
        /^frozen-lake is not compared\. .*random-[0-9a-f]{6}: It has no sealed episode\. wrong-key-\S+: It is not played yet\.$/,
      ),
      '',
    ])
    const one = await workshop.main(['compare', 'runs/zoo/frozen-lake'])
    expect([one.status, one.err]).toEqual([
      1,
      expect.stringMatching(/^error: .*\nrandom-[0-9a-f]{6}: It has no sealed/),
    ])
  })

  it('writes one page of all its worlds, which names the world that cannot be compared', async () => {
    const { status, out } = await workshop.main(['compare', 'runs/zoo', '--html', 'zoo-compared.html'])
    expect([status, out.match(/^ {2}page {2}zoo-compared\.html$/gm)]).toEqual([
      0,
      expect.objectContaining({ length: 1 }),
    ])
    const withBoth = await workshop.main([
      ...['run', exampleWorld('number-guessing'), exampleWorld('frozen-lake'), '--policies', 'two.json'],
      ...['--tasks', '4', '--set', 'both'],
    ])
    expect(withBoth.status).toBe(0)
    const both = await workshop.main(['compare', 'runs/both', '--html', 'both.html'])
    expect([both.status, both.err]).toEqual([0, ''])
    const data = (name: string) => pageContent(readFileSync(at(name), 'utf8'))
    expect(data('both.html')).toMatchObject({
      title: '2 worlds · Episodic comparison',
      compared: [{ comparisons: [{}] }, { comparisons: [{}] }],
      withheld: [],
    })
    const worlds = data('both.html').runs.map(({ detail }) => detail.entry.environments[0]?.replace(/@.*/, ''))
    expect(worlds).toEqual(['number-guessing', 'number-guessing', 'frozen-lake', 'frozen-lake'])
    expect(data('zoo-compared.html')).toMatchObject({
      compared: [{ leftOut: [{ name: expect.stringContaining('wrong-key') }] }],
      withheld: [expect.stringMatching(/^frozen-lake is not compared\. .*It has no sealed episode/)],
    })
  })

  it('prints the comparisons of all worlds as JSON', async () => {
    const { status, out } = await workshop.main(['compare', 'runs/zoo', '--json'])
    expect(status).toBe(0)
    const { set, worlds } = JSON.parse(out)
    expect({ set, worlds }).toMatchObject({
      set: 'zoo',
      worlds: [
        { world: 'number-guessing', problem: null },
        { world: 'frozen-lake', compared: null, problem: expect.stringContaining('It has no sealed episode.') },
      ],
    })
    expect(contrastsSchema.parse(worlds[0].compared)).toMatchObject({
      runs: [{ policy: 'solver' }, { policy: 'random' }],
      leftOut: [{ run: expect.stringContaining('wrong-key') }],
      contrasts: [{ tasks: 12, success: { effect: 'lower' } }],
    })
  })

  it('takes the baseline by the name of its player, in every world', async () => {
    const { status, out, err } = await workshop.main(['compare', 'runs/zoo', '--baseline', 'random'])
    expect([status, out]).toEqual([0, expect.stringContaining('1 run against random-')])
    expect(err).toContain('frozen-lake is not compared.')
    const stopped = await workshop.main(['compare', 'runs/zoo', '--baseline', 'wrong key'])
    expect([stopped.status, stopped.err.match(/is not compared/g)]).toEqual([1, expect.objectContaining({ length: 2 })])
    const folder = join('runs/zoo', runOf('number-guessing', 'random'))
    const world = await workshop.main(['compare', 'runs/zoo/number-guessing', '--baseline', folder])
    expect([world.status, world.out]).toEqual([0, expect.stringContaining('against random-')])
    const nobody = await workshop.main(['compare', 'runs/zoo', '--baseline', 'best'])
    expect([nobody.status, nobody.err]).toEqual([
      2,
      expect.stringContaining('--baseline best is neither a player of the set (solver, random, wrong key)'),
    ])
  })

  it('is compared in a shared file and on the page all the same', async () => {
    const bundled = await workshop.main(['bundle', 'runs/zoo', '--compare', '--out', 'zoo.html', '--json'])
    expect([bundled.status, JSON.parse(bundled.out)]).toMatchObject([0, { comparisons: 1, runs: 5 }])
    expect(bundled.err).toMatch(/^number-guessing: wrong-key-\S+ is not compared\./m)
    expect(bundled.err).toMatch(/^frozen-lake is not compared\./m)
    const nothing = await workshop.main(['bundle', 'runs/zoo/frozen-lake', '--compare', '--out', 'lake.html'])
    expect([nothing.status, nothing.err]).toEqual([
      1,
      expect.stringMatching(/^error: random-\S+ cannot be compared\. It has no/),
    ])
    const shared = pageContent(readFileSync(at('zoo.html'), 'utf8'))
    expect(shared.withheld[0]).toMatch(/^The runs of frozen-lake are not compared\. .*It has no sealed episode/)
    expect(shared.compared).toMatchObject([{ leftOut: [{ name: expect.stringContaining('wrong-key') }] }])

    const viewing = await startViewing(workshop, ['runs'])
    const players = ['wrong key', 'solver', 'random'].map((player) => basename(runOf('number-guessing', player)))
    const ids = (await Promise.all(players.map((name) => viewing.runNamed(name)))).map(({ id }) => id)
    const compared = await viewing.json<ComparedRuns>(`/api/compare?runs=${ids.join()}&base=${ids[0]}`)
    expect(compared).toMatchObject({
      baseline: ids[1],
      runs: [ids[1], ids[2]],
      leftOut: [{ run: ids[0], why: expect.stringMatching(/no sealed episode.*The baseline is solver-.* instead/) }],
    })
    expect(compared.tasks).toHaveLength(12)
    viewing.interrupt()
    await viewing.ended
  })
})
