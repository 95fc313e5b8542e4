import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { settingsOf } from '@episodic/check/check-context'
import { checkServed } from '@episodic/check/check-world'
import { hostedTarget, openServed } from '@episodic/check/served/served-target'
import { rehearsedTarget } from '@episodic/check/targets/rehearsed-target'
import { describeTarget } from '@episodic/check/targets/target-contract.fixture'
import { defineMcpEnvironment } from '@episodic/mcp-worlds'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { exampleWorld, openWorkshop, type Serving } from '../../fixtures/episodic.fixture.ts'
import { loadHarbor } from './load-harbor.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const TOKEN = 'the-control-token-of-this-test'
const MEMORY = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/dist/index.js')
const urls = { openenv: '', ors: '', own: '' }
let serving: Serving
beforeAll(async () => {
  const args = [exampleWorld('number-guessing'), '--openenv', '--ors-port', '0', '--tasks', '12']
  serving = await workshop.serve(args, { env: { EPISODIC_CONTROL_TOKEN: TOKEN } })
  const [, ors] = await serving.until(/"orsUrl":"(http:[^"]+)"/)
  const { origin } = new URL(serving.url)
  Object.assign(urls, { openenv: `openenv:${origin}/openenv/number-guessing`, ors: `ors:${ors}`, own: serving.url })
})

const HARBOR = {
  'task.toml': 'schema_version = "1.4"\n[task]\nname = "test/count"\n',
  'instruction.md': 'Write the number of lines of names.txt into count.txt.\n',
  'environment/Dockerfile': 'FROM debian:13-slim\nWORKDIR /app\nCOPY names.txt ./\n',
  'environment/names.txt': 'Ada\nAlan\nGrace\n',
  'solution/solve.sh': 'cd /app && wc -l < names.txt > count.txt\n',
  'tests/test.sh': 'if [ "$(cat /app/count.txt)" = 3 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n',
}

function writeHarbor(change: Partial<typeof HARBOR> = {}): string {
  const folder = join(workshop.folder, `harbor-${Object.keys(change).length}`)
  for (const [path, text] of Object.entries({ ...HARBOR, ...change })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

/** Serves a world that counts to three. Its module may keep a count that sessions share, or pay by its calls. */
async function serveCounting({ shared = false, noisy = false } = {}) {
  const name = `counting-${shared}-${noisy}`
  writeFileSync(
    join(workshop.folder, `${name}.ts`),
    `import { defineEnvironment } from '${import.meta.resolve('@episodic/mcp-server')}'
import { z } from '${import.meta.resolve('zod')}'
let [calls, common] = [0, 0]
export const environment = defineEnvironment({
  name: '${name}', version: '1.0.0', description: 'Count to three.', params: z.object({}),
  state: { public: z.object({ count: z.int() }), private: z.object({}) },
  start: () => ({ public: { count: (common = 0) }, private: {} }),
  observe: ({ count }) => count + ' of 3',
  tools: ({ tool }) => ({ add: tool({
    description: 'Counts.', input: z.object({ by: z.int().min(1).max(2).describe('How far.') }),
    play({ state, input, end, say }) {
      common += input.by
      state.public.count = ${shared} ? common : state.public.count + input.by
      if (state.public.count >= 3) end('done')
      return say('Counted.')
    },
  }) }),
  rewards: { count: ({ refused }) => refused ? 0 : 0.25 + (${noisy} ? ++calls * 0.001 : 0) },
})`,
  )
  const { url } = await workshop.serve([`./${name}.ts`, '--openenv'], { env: { EPISODIC_CONTROL_TOKEN: TOKEN } })
  return openServed({ url: `openenv:${new URL(url).origin}/openenv/${name}`, token: TOKEN }, undefined, '0')
}

/** Serves a world whose word is a parameter, and which takes any part of it. Writes who spells it, and three tasks. */
async function serveSpelling() {
  const write = (file: string, text: string) => writeFileSync(join(workshop.folder, file), text)
  write(
    'words.jsonl',
    ['apple', 'cherry', 'plum']
      .map((word) => JSON.stringify({ prompt: `Spell ${word}.`, params: { word } }))
      .join('\n'),
  )
  write(
    'speller.mjs',
    `export const policy = { name: 'speller', start: ({ task }) => () => ({ tool: 'spell', arguments: { word: task.params.word ?? '?' } }) }`,
  )
  write(
    'spelling.ts',
    `import { defineEnvironment } from '${import.meta.resolve('@episodic/mcp-server')}'
import { z } from '${import.meta.resolve('zod')}'
export const environment = defineEnvironment({
  name: 'spelling', version: '1.0.0', description: 'Spell the word.', params: z.object({ word: z.string().default('pear') }),
  state: { public: z.object({ spelt: z.string() }), private: z.object({ word: z.string() }) },
  start: ({ params }) => ({ public: { spelt: '' }, private: { word: params.word } }),
  observe: ({ spelt }) => 'Spelt: ' + spelt,
  tools: ({ tool }) => ({ spell: tool({
    description: 'Spells it.', input: z.object({ word: z.string().max(20).describe('The word.') }),
    play({ state, input, end, say }) {
      state.public.spelt = input.word
      end(state.private.word.includes(input.word) ? 'right' : 'wrong')
      return say('Spelt.')
    },
  }) }),
  rewards: { right: ({ end }) => (end?.reason === 'right' ? 1 : 0) },
  success: ({ state }) => state.public.spelt === state.private.word,
})`,
  )
  const { url } = await workshop.serve(['./spelling.ts', '--openenv'], { env: { EPISODIC_CONTROL_TOKEN: TOKEN } })
  const args = ['--token', TOKEN, '--solver', './speller.mjs', '--quick']
  return { url: `openenv:${new URL(url).origin}/openenv/spelling`, args }
}

/** A file of tasks whose second line is none. */
function bad(line = '{"params":{}}'): string {
  writeFileSync(join(workshop.folder, 'bad.jsonl'), `{"prompt":"Count."}\n${line}\n`)
  return 'bad.jsonl'
}

const ofWorld = (world: Parameters<typeof settingsOf>[0]) => ({ world, settings: settingsOf(world, '0'), seed: '0' })

describeTarget('of an OpenEnv server', () => openServed({ url: urls.openenv, token: TOKEN }, undefined, '0'))
describeTarget('of an ORS server', () => openServed({ url: urls.ors, token: TOKEN }, undefined, '0'))
describeTarget('of a server of Episodic', () => openServed({ url: urls.own, token: TOKEN }, undefined, '0'))
describeTarget('of an MCP server', async () => {
  const server = { command: process.execPath, args: [MEMORY], env: { MEMORY_FILE_PATH: '{folder}/memory.json' } }
  return hostedTarget(ofWorld({ environment: await defineMcpEnvironment({ server, score: () => 1 }) }), 2)
})
describe.skipIf(!inject('programs').bwrap)('Harbor', () =>
  describeTarget('of a task of Harbor', async () => rehearsedTarget(ofWorld(await loadHarbor(writeHarbor())), 1)),
)

describe('episodic check openenv:… and ors:…', () => {
  it.each(['openenv', 'ors', 'own'] as const)('checks what is seen from outside of a server: %s', async (system) => {
    const { status, out } = await workshop.main(['check', urls[system], '--token', TOKEN, '--quick'])
    expect(out).toMatch(/^passed {3}determinism .* rewards do not differ; \d+ of them beside another session$/m)
    expect(out).toMatch(/^passed {3}rewards .*steps earn -0\.010 to .* tasks, no oracle/m)
    expect(out).toMatch(/^skipped {2}canaries .*a served environment shows no hidden state/m)
    expect(out).toMatch(/^number-guessing \S+ passes, with 1 warning/m)
    expect(status).toBe(0)
  })

  it('plays the tasks of a file, and finds one answer that is paid on all of them', async () => {
    const { url, args } = await serveSpelling()
    const alone = await workshop.main(['check', url, ...args, '--only', 'rewards'])
    expect(alone.out).toMatch(/the oracle solves 0 of \d+ tasks/)
    await using target = await openServed({ url, token: TOKEN }, undefined, '0', null, [{ prompt: '', params: {} }])
    expect(target.tasks.map(({ id }) => id)).toEqual(['row-1'])
    for (const [word, isSpelt] of Object.entries({ ear: false, pear: true })) {
      await using attempt = await target.open(target.tasks[0] as (typeof target.tasks)[number])
      expect(attempt.succeeds()).toBeNull()
      expect((await attempt.step({ tool: 'spell', arguments: { word } })).reward).toBe(1)
      expect(attempt.succeeds()).toBe(isSpelt)
    }
    const { status, out } = await workshop.main(['check', url, ...args, '--tasks', 'words.jsonl', '--only', 'exploits'])
    expect(out).toMatch(/\[hack-pays:(one-answer|same-actions)\]/)
    expect(out).toMatch(/--tasks words\.jsonl --seed/)
    expect(status).toBe(1)
  })

  it.each([
    ['no server', ['openenv:http://127.0.0.1:1'], /does not answer/],
    ['another protocol', () => [urls.own.replace(/^/, 'ors:')], /404.*Give the address of a server of this system/],
    ['a wrong token', () => [urls.ors, '--token', 'wrong'], /401.*Give its token/s],
    ['no environment of that name', () => [`${urls.ors}#chess`, '--token', TOKEN], /no environment "chess"/],
    [
      'a Harbor task that needs containers',
      () => ['--harbor', writeHarbor({ 'environment/Dockerfile': 'RUN make\n' })],
      /needs what is not here: RUN make/,
    ],
    [
      'tasks without a prompt',
      () => [urls.ors, '--token', TOKEN, '--tasks', bad()],
      /bad.jsonl:2 is no row of a prompt/,
    ],
    [
      'a row with another key',
      () => [urls.ors, '--token', TOKEN, '--tasks', bad('{"prompt":"Count.","low":1}')],
      /bad.jsonl:2 is no row.*low/s,
    ],
    ['tasks for a world', ['frozen-lake', '--tasks', 'words.jsonl'], /--tasks is for --mcp or the URL/],
    ['tasks for a task of Harbor', ['--harbor', '.', '--tasks', 'words.jsonl'], /--tasks is for --mcp or the URL/],
    ['tools for a world', ['frozen-lake', '--only-tools', 'list'], /--only-tools .* is of tools of an MCP server/],
    ['two things to check', ['frozen-lake', '--harbor', '.'], /Give either/],
  ])('rejects %s, and says what to do', async (_, args, message) => {
    const { status, err } = await workshop.main(['check', ...(typeof args === 'function' ? args() : args)])
    expect(status).not.toBe(0)
    expect(err).toMatch(message)
    expect(err).not.toMatch(/ {4}at /)
  })
})

describe('checkServed', () => {
  const found = async (options: Parameters<typeof serveCounting>[0]) => {
    await using target = await serveCounting(options)
    const { outcome, checks } = await checkServed(target, { share: 0.25 })
    return [outcome, ...checks.flatMap(({ findings, warnings }) => [...findings, ...warnings].map(({ name }) => name))]
  }

  it('finds a state that sessions share, and rewards that are noise, and nothing else in a sound environment', async () => {
    expect(await found({})).toEqual(['passed'])
    expect(await found({ shared: true })).toEqual(['failed', 'session-shared'])
    expect(await found({ noisy: true })).toEqual(['warned', 'reward-noisy'])
  })
})
