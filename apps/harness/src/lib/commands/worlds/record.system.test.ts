import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COIN_WORLD, openWorkshop, readEpisodes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (path: string) => join(workshop.folder, path)
const write = (file: string, text: string) => writeFileSync(at(file), text)
const json = (text: string) => JSON.parse(text.split('\n').findLast((line) => line.startsWith('{')) as string)

const require = createRequire(import.meta.url)
const memory = pathToFileURL(require.resolve('@modelcontextprotocol/server-memory/dist/index.js')).href
const program = at('server.mjs')
const SERVER = `TOKEN=a-secret-of-the-server MEMORY_FILE_PATH={folder}/memory.json '${process.execPath}' '${program}'`
const create = (name: string) => ({
  tool: 'create_entities',
  arguments: { entities: [{ name, entityType: 'person', observations: [] }] },
})
const read = { tool: 'read_graph', arguments: {} }
const done = { tool: 'done', arguments: {} }

beforeAll(async () => {
  write('server.mjs', `import ${JSON.stringify(memory)}\n`)
  write(
    'score.ts',
    "export const score = async ({ call, params }) => (await call('read_graph')).text.includes(params.name)\n",
  )
  write('tasks.jsonl', '{"prompt":"Write down Ada.","name":"Ada"}\n{"prompt":"Write down Bob.","name":"Bob"}\n')
  write('coin.ts', COIN_WORLD)
  write('ada.json', JSON.stringify([create('Ada'), done]))
  write('bob.json', JSON.stringify([read, create('Bob'), done]))
  write('eve.json', JSON.stringify([read, create('Eve'), done]))
  for (const name of ['ada', 'bob']) {
    const asked = ['--mcp', SERVER, '--tasks', 'tasks.jsonl', '--score', 'score.ts', '--policy', `script:${name}.json`]
    expect((await workshop.main(['run', ...asked, '--out', `runs/${name}`])).status).toBe(0)
  }
  // What follows starts no server.
  rmSync(program)
  const { status, err } = await workshop.main(['record', 'runs/ada', 'runs/bob', '--out', 'people.jsonl'])
  expect(status).toBe(0)
  expect(err).toMatch(
    /^people\.jsonl: 4 episodes of 2 tasks, with 5 calls and 4 scores\.\nIt has no solver .*`recording`/,
  )
})

describe('episodic record', () => {
  it('makes one file of runs, the same for the same runs, without what started the server', async () => {
    const text = readFileSync(at('people.jsonl'), 'utf8')
    expect(text).not.toMatch(/a-secret-of-the-server|server\.mjs|memory\.json/)
    const { out } = await workshop.main(['record', 'runs/bob', 'runs/ada', '--out', 'again.jsonl', '--json'])
    expect(json(out)).toMatchObject({ file: at('again.jsonl'), episodes: 4, variants: 0, leftOut: 0 })
    expect(readFileSync(at('again.jsonl'), 'utf8')).toBe(text)
  })

  it('makes a world that is run, replayed and compared as any other, with the figures of the server', async () => {
    for (const name of ['ada', 'bob']) {
      const run = ['run', 'people.jsonl', '--policy', `script:${name}.json`, '--out', `runs/${name}-recorded`]
      expect((await workshop.main(run)).status).toBe(0)
      const [live, recorded] = [`runs/${name}`, `runs/${name}-recorded`].map((folder) =>
        readEpisodes(at(folder))
          .map(({ params, returns, outcome, steps }) => ({
            params,
            returns,
            outcome,
            said: steps.map(({ observation }) => observation.text),
          }))
          .sort((one, other) => (JSON.stringify(one.params) < JSON.stringify(other.params) ? -1 : 1)),
      )
      expect(recorded).toEqual(live)
      const replayed = await workshop.run(['replay', `runs/${name}-recorded`])
      expect(replayed.out).toMatch(/2 episodes: 2 reproduced/)
    }
    const compared = await workshop.main(['compare', 'runs/ada', 'runs/ada-recorded'])
    expect([compared.status, compared.out]).toEqual([0, expect.stringMatching(/return .* same in every task/)])
  })

  it('is what a run of a live server is continued from', async () => {
    const asked = ['continue', 'runs/bob', '--query', 'counts:yes', '--step', '2', '--rollouts', '1']
    const { status, err } = await workshop.main(asked)
    expect([status, err]).toEqual([1, expect.stringContaining('`episodic record runs/bob` writes them to ')])
    await workshop.main(['record', 'runs/bob'])
    expect((await workshop.main(asked)).err).toMatch(/what it answered is read from \S+\.recording\.jsonl/)
    const before = readEpisodes(at('runs/bob'))
    expect(readEpisodes(at('runs/bob-continued')).map(({ steps }) => steps.map(({ stateHash }) => stateHash))).toEqual(
      before.map(({ steps }) => steps.slice(1).map(({ stateHash }) => stateHash)),
    )
    expect((await workshop.main(['replay', 'runs/bob-continued'])).out).toContain('2 reproduced')
  })

  it('keeps solver, policies and tasks of a world file in which it takes the place of the server', async () => {
    write('server.mjs', `import ${JSON.stringify(memory)}\n`)
    const world = (from: string) => `
      import { defineMcpEnvironment } from '${import.meta.resolve('@episodic/mcp-worlds')}'
      import { definePolicy } from '${import.meta.resolve('@episodic/env')}'
      export const environment = await defineMcpEnvironment({ ${from}, score: () => 1 })
      const writing = (name) => definePolicy({ name, start({ seed }) {
        const actions = [${JSON.stringify(create('NAME'))}, ${JSON.stringify(done)}]
        return () => JSON.parse(JSON.stringify(actions.shift()).replace('NAME', seed.slice(0, 1)))
      } })
      export const solver = writing('writer')
      export const policies = { other: writing('other') }
    `
    write('live.ts', world(`server: ${JSON.stringify(SERVER)}`))
    write('recorded.ts', world("recording: 'live.jsonl'"))
    const play = (file: string, out: string, ...more: string[]) =>
      workshop.main(['run', file, '--policy', 'solver', '--tasks', '8', '--out', out, ...more])
    expect((await play('live.ts', 'runs/live')).status).toBe(0)
    const { err } = await workshop.main(['record', 'runs/live', '--out', 'live.jsonl'])
    expect(err).toMatch(/8 episodes of 1 task,/)
    rmSync(program)
    expect((await play('recorded.ts', 'runs/kept')).status).toBe(0)
    expect((await play('recorded.ts', 'runs/other', '--policy', 'other')).status).toBe(0)
    const { out } = await workshop.main(['compare', 'runs/live', 'runs/kept', '--json'])
    expect(json(out)).toMatchObject({ tasks: { compared: 8 } })
  })

  it('makes one world of the lines of forked episodes, whose server keeps its state in its folder', async () => {
    write('server.mjs', `import ${JSON.stringify(memory)}\n`)
    write(
      'kept.ts',
      `import { defineMcpEnvironment } from ${JSON.stringify(import.meta.resolve('@episodic/mcp-worlds'))}
export const environment = await defineMcpEnvironment({
  name: 'kept', server: ${JSON.stringify(SERVER)}, stateInFolder: true,
  score: async ({ call }) => (await call('read_graph')).text.includes('Ada'),
})
`,
    )
    write('wait.json', JSON.stringify([create('Ada'), read, done]))
    const asked = ['--policy', 'script:wait.json', '--tasks', '1', '--branch', '2@1', '--out', 'runs/forked', '--json']
    expect(json((await workshop.run(['run', 'kept.ts', ...asked])).out).counts).toMatchObject({ finished: 2 })
    rmSync(program)
    const lines = readEpisodes(at('runs/forked'))
    expect(lines.map(({ returns, steps }) => [returns?.total, steps[1]?.observation.text.includes('Ada')])).toEqual([
      [1, true],
      [1, true],
    ])
    const { out } = await workshop.main(['record', 'runs/forked', '--out', 'forked.jsonl', '--json'])
    expect(json(out)).toMatchObject({ episodes: 2, calls: 3, variants: 0 })
  })

  it.each([
    [['record', 'runs/coin'], /runs\/coin is no run of an MCP server's world/],
    [['record', 'runs/ada', 'runs/forked'], /are of different worlds, versions, tools or limits/],
    [['record', 'runs/ada', '--volatile', 'serch(x)'], /has to begin with a tool, and there is: create_entities/],
    [['record', 'runs/none'], /There is no run at runs\/none/],
    [['record', 'runs/key'], /look like secrets:\n {2}line \d+: call\.1\.entities\.0\.name has a token of GitHub/],
  ])('says what is wrong with %j', async (args, message) => {
    if (args.includes('runs/coin')) await workshop.main(['run', 'coin.ts', '--tasks', '1', '--out', 'runs/coin'])
    if (args.includes('runs/key')) {
      write('server.mjs', `import ${JSON.stringify(memory)}\n`)
      write('key.json', JSON.stringify([create(`ghp_${'a1B2'.repeat(9)}`), done]))
      const asked = ['--mcp', SERVER, '--tasks', 'tasks.jsonl', '--policy', 'script:key.json', '--out', 'runs/key']
      expect((await workshop.main(['run', ...asked])).status).toBe(0)
    }
    const { status, err } = await workshop.main(args)
    expect(status).not.toBe(0)
    expect(err).toMatch(message)
  })
})
