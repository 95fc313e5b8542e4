import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pageContent } from '@episodic/pages/file/page-content.fixture'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkshop, readEpisodes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
const temporary = join(workshop.folder, 'tmp')
const env = { TMPDIR: temporary }
const episodeFolders = () => readdirSync(temporary).filter((name) => name.startsWith('episodic-mcp-'))
afterAll(() => workshop[Symbol.dispose]())

const require = createRequire(import.meta.url)
const program = require.resolve('@modelcontextprotocol/server-memory/dist/index.js')
const MEMORY = `MEMORY_FILE_PATH={folder}/memory.json '${process.execPath}' '${program}'`
const ada = { entities: [{ name: 'Ada', entityType: 'person', observations: [] }] }
const write = (file: string, text: string) => writeFileSync(join(workshop.folder, file), text)
const json = (text: string) => JSON.parse(text.split('\n').findLast((line) => line.startsWith('{')) as string)

beforeAll(() => {
  mkdirSync(temporary)
  write(
    'score.ts',
    "export const score = async ({ call, params }) => (await call('read_graph')).text.includes(params.name)\n",
  )
  write('tasks.jsonl', '{"prompt":"Write down Ada.","name":"Ada"}\n{"prompt":"Write down Bob.","name":"Bob"}\n')
  write(
    'ada.json',
    JSON.stringify([
      { tool: 'create_entities', arguments: ada },
      { tool: 'done', arguments: {} },
    ]),
  )
  write(
    'mcp.json',
    `{ "mcpServers": {
      // The only one that is enabled.
      "memory": { "type": "stdio", "command": ${JSON.stringify(process.execPath)}, "args": [${JSON.stringify(program)}], "env": { "MEMORY_FILE_PATH": "{folder}/memory.json" } },
      "far": { "url": "https://example.invalid/mcp", "disabled": true },
    } }`,
  )
})

describe('an MCP server as a world', () => {
  it('is played by run with the tasks of a file and a score, and replayed without its server', async () => {
    const asked = ['--mcp', MEMORY, '--tasks', 'tasks.jsonl', '--score', 'score.ts', '--policy', 'script:ada.json']
    const { status, out, err } = await workshop.main(['run', ...asked, '--out', 'runs/memory', '--json'], { env })
    expect([status, err]).toEqual([0, expect.any(String)])
    const summary = json(out)
    expect(summary).toMatchObject({ counts: { scheduled: 2, finished: 2 } })
    // It says at the start and in the report what it promises.
    expect(err).toMatch(/^An MCP server has the state: each call reaches it at most once/m)
    const guarantees = { system: 'mcp', replay: true, delivery: 'at-most-once', seed: 'ignored' }
    expect(summary.guarantees).toEqual(guarantees)
    expect(readFileSync(join(workshop.folder, 'runs/memory/report.html'), 'utf8')).toContain('at-most-once')
    const episodes = readEpisodes(join(workshop.folder, 'runs/memory'))
    expect(episodes.map(({ params, returns }) => [params.name, returns?.total]).sort()).toEqual([
      ['Ada', 1],
      ['Bob', 0],
    ])
    expect(readdirSync(join(workshop.folder, '.episodic'))).toEqual([
      '.gitignore',
      expect.stringMatching(/^mcp-.*mjs$/),
    ])
    const replayed = await workshop.main(['replay', 'runs/memory'], { env })
    expect(replayed.out).toMatch(/2 episodes: 2 reproduced/)
    expect(episodeFolders()).toEqual([])
  })

  it('is scored where its agent leaves without a word; replay, a recording and an export know of it', async () => {
    const define = import.meta.resolve('@episodic/harness')
    write(
      'leaving.mjs',
      `import { defineAgent } from '${define}'
export const agent = defineAgent({ name: 'leaving', async play({ url }) {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'create_entities', arguments: ${JSON.stringify(ada)} } }
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).text()
} })\n`,
    )
    const asked = ['--tasks', 'tasks.jsonl', '--policy', 'agent:leaving.mjs']
    const live = ['run', '--mcp', MEMORY, '--score', 'score.ts', ...asked, '--out', 'runs/left']
    expect((await workshop.main(live, { env })).status).toBe(0)
    const left = readEpisodes(join(workshop.folder, 'runs/left'))
    const figures = (lines: typeof left) =>
      lines.map(({ params, returns, outcome, steps }) => [params.name, returns?.total, outcome, steps.length]).sort()
    const ended = (success: boolean) => ({ kind: 'finished', end: { kind: 'truncated', reason: 'closed' }, success })
    expect(figures(left)).toEqual([
      ['Ada', 1, ended(true), 2],
      ['Bob', 0, ended(false), 2],
    ])
    expect((await workshop.main(['replay', 'runs/left'], { env })).out).toMatch(/2 episodes: 2 reproduced/)
    expect((await workshop.main(['record', 'runs/left', '--out', 'left.jsonl'], { env })).status).toBe(0)
    const again = ['run', 'left.jsonl', '--policy', 'agent:leaving.mjs', '--out', 'runs/left-again']
    expect((await workshop.main(again, { env })).status).toBe(0)
    expect(figures(readEpisodes(join(workshop.folder, 'runs/left-again')))).toEqual(figures(left))
    const exporting = ['export', 'runs/left', '--format', 'trl-sft', '--out', 'left-export.jsonl']
    expect((await workshop.main(exporting, { env })).status).toBe(0)
    expect(readFileSync(join(workshop.folder, 'left-export.jsonl'), 'utf8')).not.toContain('absent')
  })

  it('is replayed, graded, viewed and exported with the program of its server gone', async () => {
    const gone = join(workshop.folder, 'server.mjs')
    writeFileSync(gone, `import ${JSON.stringify(pathToFileURL(program).href)}\n`)
    const server = `MEMORY_FILE_PATH={folder}/memory.json '${process.execPath}' '${gone}'`
    const asked = ['--mcp', server, '--tasks', 'tasks.jsonl', '--score', 'score.ts', '--policy', 'script:ada.json']
    expect((await workshop.main(['run', ...asked, '--out', 'runs/gone'], { env })).status).toBe(0)
    rmSync(gone)
    const { sources } = JSON.parse(readFileSync(join(workshop.folder, 'runs/gone/run.json'), 'utf8'))
    const world = join(workshop.folder, 'runs/gone', sources.world.file)
    // Each in a process of its own: this one has loaded the world.
    for (const given of [[], ['--world', world]]) {
      const replayed = await workshop.run(['replay', 'runs/gone', ...given], { env })
      expect([replayed.err, replayed.out]).toEqual(['', expect.stringMatching(/2 episodes: 2 reproduced/)])
    }
    write(
      'graders.ts',
      `import { defineGrader } from ${JSON.stringify(import.meta.resolve('episodic'))}
export const grader = defineGrader({
  name: 'called', version: '1', scale: 'boolean', needs: ['states'],
  grade: ({ states }) => ({ value: states.steps.at(-1).public.calls === 1, why: 'It is.' }),
})
`,
    )
    const graded = await workshop.run(['grade', 'runs/gone', '--grader', 'graders.ts'], { env })
    expect([graded.status, graded.err]).toEqual([0, expect.stringMatching(/called +2\/2 verdicts/)])
    const exported = await workshop.run(['export', 'runs/gone', '--format', 'trl-sft', '--out', 'gone.jsonl'], { env })
    expect(exported.status).toBe(0)
    expect(readFileSync(join(workshop.folder, 'gone.jsonl'), 'utf8')).toMatch(/Create multiple new entities/)
    const shown = ['bundle', 'runs/gone', '--states', 'all', '--world', world, '--out', 'page.html']
    const bundled = await workshop.run(shown, { env })
    expect(bundled.status).toBe(0)
    const [shared] = pageContent(readFileSync(join(workshop.folder, 'page.html'), 'utf8')).runs
    expect(Object.values(shared?.states ?? {}).map(({ source }) => source)).toEqual(['replayed', 'replayed'])
  })

  it('is one of an mcpServers file, served over HTTP by a process of its own', async () => {
    const asked = ['--mcp-config', 'mcp.json', '--policy', 'random', '--tasks', '2', '--max-steps', '3']
    const { status, out } = await workshop.main([
      'run',
      ...asked,
      '--transport',
      'http',
      '--out',
      'runs/served',
      '--json',
    ])
    expect([status, json(out).counts]).toEqual([0, expect.objectContaining({ finished: 2 })])
  })

  it.each([
    [['run', 'coin', '--mcp', 'x'], /Give either a world or an MCP server: coin is a world/],
    [['run', '--mcp', 'x', '--mcp-config', 'mcp.json'], /Give either --mcp or --mcp-config/],
    [['run', 'coin', '--score', 'score.ts'], /--score judges the episodes of an MCP server/],
    [['run', 'coin', '--file', '{"onlyTools":"list"}'], /onlyTools\) is of tools of an MCP server/],
    [['run', '--mcp', 'x', '--score', 'ada.json'], /ada\.json (does not load|exports no function "score")/],
    [['run', '--mcp', 'x', '--score', 'none.ts'], /--score none\.ts: there is no such file/],
    [['run', '--mcp', 'no-such-program'], /The MCP server of this session is gone\. .*no command no-such-program/],
    [['run', '--mcp-config', 'mcp.json', '--server', 'near'], /has no server "near"/],
    [
      ['serve', '--mcp', MEMORY, '--processes', '2', '--store', 'redis://127.0.0.1:1'],
      /server-memory keeps a part of each session in the process that plays it.*Leave --processes out/,
    ],
    [['check'], /Nothing to play\. Name a world, or give an MCP server with --mcp/],
  ])('says what is wrong with %j', async (args, message) => {
    const { status, err } = await workshop.main(args, { env })
    expect(status).not.toBe(0)
    expect(err).toMatch(message)
  })

  it('leaves no server when the run is killed', async () => {
    const run = workshop.start(['run', '--mcp', MEMORY, '--policy', 'random', '--tasks', '200', '--max-steps', '50'], {
      env,
    })
    await expect.poll(() => episodeFolders().some(hasMemory), { timeout: 60_000 }).toBe(true)
    run.kill('SIGKILL')
    await run.ended
    await expect.poll(episodeFolders, { timeout: 30_000 }).toEqual([])
  })
})

/** Whether the server of an episode has written down something. */
function hasMemory(folder: string): boolean {
  try {
    return readFileSync(join(temporary, folder, 'files/memory.json'), 'utf8') !== ''
  } catch {
    return false
  }
}
