import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bisecting, type ChatServer, calling, startChatServer } from '@episodic/models/chat-server.fixture'
import { contrastsSchema } from '@episodic/report/compare/contrasts'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, withoutTimes } from '../../fixtures/episodic.fixture.ts'

/** Prices, as a file of a run has them. */
const PRICED = ['--file', '{"prices":{"prompt":2,"completion":10}}']
const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const lake = exampleWorld('frozen-lake')
const at = (...path: string[]) => join(workshop.folder, ...path)
const write = (name: string, value: unknown) => writeFileSync(at(name), JSON.stringify(value))
const play = (...args: string[]) => workshop.main(['run', ...args])

interface ListedMember {
  readonly world: string
  readonly player: string
  readonly run: string
  readonly stopped: { readonly code: string; readonly message: string } | null
  readonly summary: { readonly counts: object } | null
}
const membersOf = (out: string): ListedMember[] => JSON.parse(out).members
/** Returns what the run of a player holds, without its times and its model's. */
const episodesOf = (folder: string) =>
  withoutTimes(readEpisodes(folder)).map((record) =>
    JSON.stringify(record, (key, value) => (key === 'time' ? undefined : value)),
  )

let server: ChatServer | null = null
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = null
})

/** Answers the key `right`, and refuses any other. */
async function startKeyed(): Promise<ChatServer> {
  server = await startChatServer((request, _, response, { headers }) => {
    if (headers.authorization === 'Bearer right') return bisecting(request)
    response.writeHead(401).end('{"error":{"message":"Incorrect API key"}}')
    return null
  })
  return server
}

describe('episodic run, of models with several prompts', () => {
  it('names players after their prompts, compares prompts over models, and writes the table for a paper', async () => {
    const models = ['llm:good', 'llm:bad & cheap_1']
    const prompts = ['Answer at once.', '@think.txt']
    const players = models.flatMap((policy) => prompts.map((systemPrompt) => ({ policy, systemPrompt })))
    write('prompts.json', [{ policy: 'random' }, ...players])
    writeFileSync(at('think.txt'), 'Think\nfirst.')
    server = await startChatServer((request) => {
      const thinks = request.messages.some(({ content }) => content?.includes('Think\nfirst.'))
      return request.model === 'good' || thinks ? bisecting(request) : calling('guess', { value: 0 })
    })
    const options = [
      '--policies',
      'prompts.json',
      '--tasks',
      '8',
      '--file',
      '{"prices":{"prompt":2,"completion":10}}',
      '--base-url',
      server.url,
    ]
    const env = { env: { OPENAI_API_KEY: 'none' } }
    const { status, out } = await workshop.main(['run', world, ...options, '--set', 'prompts', '--json'], env)
    expect([status, membersOf(out).map(({ player }) => player)]).toEqual([
      0,
      [
        'random',
        'llm:good “Answer at once.”',
        'llm:good “Think first.”',
        expect.stringMatching(/^llm-bad.* “Answer at once.”$/),
        expect.stringMatching(/^llm-bad.* “Think first.”$/),
      ],
    ])
    const tables = ['--table', 'prompts.csv', '--table', 'prompts.tex', '--table', 'prompts.svg']
    const compared = await workshop.main(['compare', 'runs/prompts', ...tables, '--json'])
    expect(compared.status).toBe(0)
    const { contrasts, factors, runs } = contrastsSchema.parse(JSON.parse(compared.out))
    expect(factors).toMatchObject({
      prompts: ['“Answer at once.”', '“Think first.”'],
      rows: [
        { model: 'llm:good', success: [1, 1] },
        { model: expect.stringContaining('bad'), success: [0, 1] },
      ],
      effects: [{ factor: 'prompt', level: '“Think first.”', base: '“Answer at once.”', pairs: 2, a: 0.5, b: 1 }],
    })
    const printed = await workshop.main(['compare', 'runs/prompts'])
    expect(printed.out).toMatch(/“Think first.” +“Answer at once.” +\+50.0 points .* 2 +8 +higher\n/)
    const [head = '', ...rows] = readFileSync(at('prompts.csv'), 'utf8').trimEnd().split('\n')
    const table = rows.map((row) => Object.fromEntries(head.split(',').map((name, i) => [name, row.split(',')[i]])))
    // The baseline first, and then by success: as on the page.
    expect(table.map(({ policy, prompt, success }) => [policy, prompt, success])).toEqual([
      ['random', '', String(runs[0]?.success)],
      ['llm:good', '“Answer at once.”', '1'],
      ['llm:good', '“Think first.”', '1'],
      ['llm:bad & cheap_1', '“Think first.”', '1'],
      ['llm:bad & cheap_1', '“Answer at once.”', '0'],
    ])
    expect(table[1]).toMatchObject({
      success_rate_low: String(runs[1]?.rate?.low),
      success_difference_low: String(contrasts[0]?.success.difference.low),
      success_difference_p_holm: String(contrasts[0]?.success.holm),
      cost: String(runs[1]?.cost),
      cost_difference: '',
    })
    // A policy that asks no model has no cost, and no cost of 0.
    expect([table[0]?.cost, table[0]?.success_difference]).toEqual(['', ''])
    expect(readFileSync(at('prompts.tex'), 'utf8')).toContain('llm:bad \\& cheap\\_1 “Answer at once.” & 0.0 \\% (')
    const plot = readFileSync(at('prompts.svg'), 'utf8')
    expect(plot.match(/<text [^>]*text-anchor="end">[^<]*/g)).toHaveLength(table.length + 1)
    expect(plot).toContain('>llm:bad &#38; cheap_1 “Answer at once.”</text>')
    const other = await workshop.main(['compare', 'runs/prompts', '--table', 'prompts.pdf'])
    expect([other.status, other.err]).toEqual([2, expect.stringContaining('End its name in .csv, .tex or .svg.')])
  })
})

describe('episodic run, of a set', () => {
  it('plays every world with every player, each as a run of its own', async () => {
    const options = ['--tasks', '6', '--rollouts', '2', '--seed', '4']
    const { status, out, err } = await play(
      world,
      lake,
      '--policy',
      'solver',
      '--policy',
      'random',
      ...options,
      '--json',
    )
    expect([status, err]).toEqual([0, expect.stringContaining('number-guessing: solver, random')])
    // Beside the count of the set, how far each player is and how well it does.
    expect(err).toMatch(/^100 % {2}24\/24 .* solver 12, 100\.0 % {2}random 12, [\d.]+ %$/m)
    const { folder, set, baseline } = JSON.parse(out)
    expect({ folder, set, baseline }).toEqual({
      folder: 'runs/set-2-worlds-4',
      set: 'set-2-worlds-4',
      baseline: 'solver',
    })
    const members = membersOf(out)
    expect(members.map(({ world, player }) => [world, player])).toEqual([
      ['number-guessing', 'solver'],
      ['number-guessing', 'random'],
      ['frozen-lake', 'solver'],
      ['frozen-lake', 'random'],
    ])
    for (const { run, summary } of members) {
      expect(run).toMatch(/^(number-guessing|frozen-lake)\/(solver|random)-[0-9a-f]{6}$/)
      expect(summary?.counts).toMatchObject({ scheduled: 12, finished: 12, unresolved: 0, conflicts: 0 })
      expect(readdirSync(at(folder, run)).sort()).toEqual(
        ['episodes.jsonl', 'report.html', 'run.json', 'run.lock', 'summary.json'].sort(),
      )
    }
    expect(readdirSync(at(folder)).filter((name) => name.endsWith('.jsonl')).length).toBe(2)

    // A member is an ordinary run, and holds what the player plays alone.
    const [solver, , , random] = members
    await play(world, '--policy', 'solver', ...options, '--out', 'alone')
    expect(episodesOf(at(folder, solver!.run))).toEqual(episodesOf(at('alone')))
    await play(lake, '--policy', 'random', ...options, '--out', 'alone-too')
    expect(episodesOf(at(folder, random!.run))).toEqual(episodesOf(at('alone-too')))
    const replay = await workshop.main(['replay', join(folder, random!.run), '--json'])
    expect(JSON.parse(replay.out)).toMatchObject({ replayed: 12, diverged: 0 })
  })

  it('resumes by the folder alone, and compares its members with its baseline', async () => {
    const players = ['--policy', 'solver', '--policy', 'random', '--policy', 'careless', '--baseline', 'careless']
    const whole = await play(world, ...players, '--tasks', '8', '--set', 'resumed')
    expect(whole.status).toBe(0)
    expect(whole.out).toMatch(/^WORLD +PLAYER +SUCCESS/m)
    expect(whole.out).toMatch(/^number-guessing +careless .* 8\/8 +0 +– +baseline$/m)
    expect(whole.out).toContain('compare: episodic compare runs/resumed')
    const again = await play(world, ...players, '--tasks', '8', '--set', 'resumed')
    expect([again.status, again.err]).toEqual([
      1,
      expect.stringContaining('runs/resumed holds this set already. Give --resume runs/resumed'),
    ])
    const [, member] = membersOf((await play('--resume', 'runs/resumed', '--json')).out)
    const lines = at('runs/resumed', member!.run, 'episodes.jsonl')
    const text = readFileSync(lines, 'utf8')
    writeFileSync(lines, text.split('\n').slice(0, 3).join('\n'))
    rmSync(at('runs/resumed', membersOf((await play('--resume', 'runs/resumed', '--json')).out)[0]!.run), {
      recursive: true,
    })
    const resumed = await play('--resume', 'runs/resumed', '--concurrency', '2', '--json')
    expect(resumed.status).toBe(0)
    for (const { summary } of membersOf(resumed.out))
      expect(summary?.counts).toMatchObject({ scheduled: 8, finished: 8, unresolved: 0 })
    expect(readFileSync(lines, 'utf8').split('\n').sort()).toHaveLength(text.split('\n').length)
    // The same command with --resume does the same, and another one does not.
    expect((await play(world, ...players, '--tasks', '8', '--set', 'resumed', '--resume')).status).toBe(0)
    const other = await play(world, ...players, '--tasks', '9', '--set', 'resumed', '--resume')
    expect([other.status, other.err]).toEqual([1, expect.stringContaining('runs/resumed holds another set')])
    const decided = await play('--resume', 'runs/resumed', '--seed', '3')
    expect([decided.status, decided.err]).toEqual([2, expect.stringContaining('Leave --seed out.')])

    const compared = await workshop.main(['compare', 'runs/resumed', '--json'])
    expect(compared.status).toBe(0)
    expect(JSON.parse(compared.out)).toEqual(
      JSON.parse(
        (
          await workshop.main([
            'compare',
            ...['careless', 'solver', 'random'].map((player) =>
              join('runs/resumed', membersOf(resumed.out).find((each) => each.player === player)!.run),
            ),
            '--json',
          ])
        ).out,
      ),
    )
  })

  it('compares the players of each world of a set', async () => {
    await play(world, lake, '--policy', 'solver', '--policy', 'random', '--tasks', '5', '--set', 'worlds')
    const { status, out } = await workshop.main(['compare', 'runs/worlds'])
    expect([status, out.match(/^(number-guessing|frozen-lake)$/gm)]).toEqual([0, ['number-guessing', 'frozen-lake']])
    const one = await workshop.main(['compare', 'runs/worlds/frozen-lake', '--json'])
    expect([one.status, JSON.parse(one.out).environment]).toEqual([0, expect.stringContaining('frozen-lake')])
    const { status: refused, err } = await workshop.main(['compare', 'runs'])
    expect([refused, err]).toEqual([
      2,
      expect.stringContaining(
        'runs holds no set of runs, and one run alone cannot be compared. Give the folders of two or more runs, or of a set.',
      ),
    ])
  })

  it('stops a player with a wrong key alone, and plays it when the set is resumed', async () => {
    const { url, requests } = await startKeyed()
    const model = (name: string, apiKeyEnv: string, more = {}) => ({
      name,
      policy: 'llm:bisect',
      baseUrl: url,
      apiKeyEnv,
      prices: [2, 10],
      ...more,
    })
    write('models.json', [
      model('one', 'FIRST_KEY'),
      model('two', 'SECOND_KEY', { temperature: 0, concurrency: 2 }),
      { policy: 'solver' },
    ])
    const env = { FIRST_KEY: 'right', SECOND_KEY: 'wrong' }
    const started = await workshop.main(
      ['run', world, '--tasks', '12', '--policies', 'models.json', '--set', 'keys', '--json'],
      {
        env,
      },
    )
    expect(started.status).toBe(1)
    expect(started.err).toMatch(/^two stopped: 5 episodes in a row failed .* Check the key in SECOND_KEY\./m)
    expect(started.err).toContain('12 episodes are left. To play them:\n  episodic run --resume runs/keys\n')
    const [one, two, solver] = membersOf(started.out)
    expect(two).toMatchObject({
      stopped: { code: 'model-refused' },
      summary: { counts: { unresolved: 12, finished: 0 } },
    })
    expect(requests.filter(({ temperature }) => temperature === 0)).toHaveLength(5)
    for (const { stopped, summary } of [one!, solver!])
      expect({ stopped, counts: summary?.counts }).toMatchObject({
        stopped: null,
        counts: { finished: 12, unresolved: 0 },
      })
    const alone = ['run', world, '--tasks', '12']
    const key = { env: { OPENAI_API_KEY: 'right' } }
    await workshop.main([...alone, '--policy', 'llm:bisect', '--base-url', url, ...PRICED, '--out', 'one'], key)
    await workshop.main([...alone, '--policy', 'solver', '--out', 'solver'])
    expect(episodesOf(at('runs/keys', one!.run))).toEqual(episodesOf(at('one')))
    expect(episodesOf(at('runs/keys', solver!.run))).toEqual(episodesOf(at('solver')))
    for (const { run } of [one!, two!]) {
      expect(readFileSync(at('runs/keys', run, 'run.json'), 'utf8')).not.toContain('SECOND_KEY')
      expect(existsSync(at('runs/keys', run, 'episodes.jsonl'))).toBe(true)
    }
    const resumed = await workshop.main(['run', '--resume', 'runs/keys', '--json'], {
      env: { ...env, SECOND_KEY: 'right' },
    })
    expect(resumed.status).toBe(0)
    for (const { summary } of membersOf(resumed.out))
      expect(summary?.counts).toMatchObject({ finished: 12, unresolved: 0 })
  })

  it('keeps a set that is killed, and plays the rest of each member', async () => {
    const deadly = `
      import { existsSync } from 'node:fs'
      import { solver } from '${new URL(`file://${world}/src/index.ts`)}'
      let begun = 0
      export const policy = {
        name: 'deadly',
        async start(context) {
          begun += 1
          if (begun === 20 && !existsSync('harmless')) process.kill(process.pid, 'SIGKILL')
          return solver.start(context)
        },
      }`
    writeFileSync(at('deadly.ts'), deadly)
    const options = [
      'run',
      world,
      '--policy',
      './deadly.ts',
      '--policy',
      'solver',
      '--tasks',
      '40',
      '--concurrency',
      '2',
    ]
    const killed = await workshop.run([...options, '--set', 'killed'])
    expect(killed.status).toBe(null)
    const runs = readdirSync(at('runs/killed/number-guessing'))
    const counts = runs.map((run) => readEpisodes(at('runs/killed/number-guessing', run)).length)
    // Neither player is more than its episodes in flight and eight tasks ahead of the other.
    for (const count of counts) expect(count).toBeLessThanOrEqual(20 + 2 + 8)
    appendFileSync(at('harmless'), '')
    expect((await workshop.run(['run', '--resume', 'runs/killed'])).status).toBe(0)
    expect((await workshop.main([...options, '--set', 'whole'])).status).toBe(0)
    for (const run of runs)
      expect(episodesOf(at('runs/killed/number-guessing', run))).toEqual(
        episodesOf(at('runs/whole/number-guessing', run)),
      )
  })

  it('lists what it would play and what that can cost, and plays nothing', async () => {
    const { url, requests } = await startKeyed()
    write('priced.json', [
      { name: 'cheap', policy: 'llm:a', baseUrl: url, tokenBudget: 1_000, prices: [1, 4] },
      { name: 'open', policy: 'llm:b', baseUrl: url, prices: [1, 4] },
    ])
    const options = [
      world,
      '--policy',
      'solver',
      '--policies',
      'priced.json',
      '--tasks',
      '50',
      '--rollouts',
      '2',
      '--dry-run',
    ]
    const { status, out } = await play(...options, '--json')
    expect(status).toBe(0)
    expect(JSON.parse(out).planned).toMatchObject({
      baseline: 'solver',
      members: [
        { player: 'solver', tasks: 50, episodes: 100, worstCost: 0, unknownCost: null },
        // 100 episodes of 1,000 tokens at 4 a million.
        { player: 'cheap', episodes: 100, worstCost: 0.4, unknownCost: null },
        {
          player: 'open',
          episodes: 100,
          worstCost: null,
          unknownCost: 'no bound without tokenBudget, --token-limit or --cost-limit',
        },
      ],
    })
    // A limit is shared by all players, and holds for one of them too.
    const worstOf = async (...limits: string[]) => {
      const { members, worstCost } = JSON.parse((await play(...options, ...limits, '--json')).out).planned
      return [...members.map(({ worstCost }: { worstCost: number | null }) => worstCost), worstCost]
    }
    expect(await worstOf()).toEqual([0, 0.4, null, null])
    expect(await worstOf('--cost-limit', '0.5')).toEqual([0, 0.4, 0.5, 0.5])
    expect(await worstOf('--cost-limit', '0.1')).toEqual([0, 0.1, 0.1, 0.1])
    expect((await play(...options, '--cost-limit', '0.1')).out).toMatch(
      /worst cost 0\.1; in .*\nCosts are in the currency of the prices\.\nnumber-guessing: 50 tasks show a difference in success of 32 points among 3 players/,
    )
    const shown = await play(...options)
    expect(shown.out).toMatch(/^number-guessing +cheap +50 +100 +0\.4 +number-guessing\/cheap-[0-9a-f]{6}$/m)
    expect(shown.out).toContain('300 episodes; worst cost unknown; in runs/set-number-guessing-0\n')
    expect(requests).toEqual([])
    const alone = await play(world, '--dry-run', '--json')
    expect(JSON.parse(alone.out).planned.members).toMatchObject([
      { player: 'default', episodes: 100, worstCost: 0, run: 'runs/number-guessing-solver-0' },
    ])
    // No limit of this run bounds what an agent asks of paid models.
    const agents = await play(world, '--policy', 'process:agent.mjs', ...PRICED, '--dry-run', '--json')
    expect(JSON.parse(agents.out).planned.members).toMatchObject([
      { worstCost: null, unknownCost: 'an agent asks its models itself' },
    ])
    const recorded = ['--record-models', ...PRICED, '--token-limit', '1000000', '--dry-run', '--json']
    expect(JSON.parse((await play(world, '--policy', 'process:agent.mjs', ...recorded)).out).planned).toMatchObject({
      members: [{ worstCost: 10, unknownCost: null }],
      worstCost: 10,
    })
    expect(existsSync(at('runs', 'set-number-guessing-0'))).toBe(false)
  })

  it.each<[string, string[], string]>([
    ['a player twice', [world, '--policy', 'random', '--policy', 'random'], 'Two players are called random.'],
    ['a world twice', [world, world], 'The set has the world number-guessing twice.'],
    ['an unknown baseline', [world, lake, '--baseline', 'best'], '--baseline best is none of the players: default.'],
    ['a baseline of one run', [world, '--baseline', 'solver'], '--baseline is for a set of runs'],
    ['an unknown policy', [world, '--policy', 'random', '--policy', 'clever'], 'There is no policy "clever"'],
    ['a name that is a path', [world, '--set', '../x'], '"../x" cannot name a set'],
    ['two folders', [world, '--set', 'x', '--out', 'y'], 'Give one of them.'],
    ['a dataset of several worlds', [world, lake, '--dataset', 'x.jsonl'], '--dataset has the tasks of one world'],
    ['a missing file of players', [world, '--policies', 'none.json'], '--policies none.json is not a list of players'],
    ['an unknown key of a player', [world, '--policies', 'typo.json'], 'Unrecognized key: "polcy"'],
    ['a key that is not set', [world, '--policies', 'keyless.json'], 'is to be in NO_SUCH_VARIABLE, which is not set'],
    ['failed episodes of a new set', [world, lake, '--retry-failed'], 'give --resume too'],
  ])('rejects %s', async (_, args, message) => {
    write('typo.json', [{ policy: 'random', polcy: 'x' }])
    write('keyless.json', [{ policy: 'llm:x', apiKeyEnv: 'NO_SUCH_VARIABLE' }])
    const before = existsSync(at('runs')) ? readdirSync(at('runs')) : []
    const { status, err } = await play(...args)
    expect([status, err]).toEqual([2, expect.stringContaining(message)])
    expect(existsSync(at('runs')) ? readdirSync(at('runs')) : []).toEqual(before)
  })
})
