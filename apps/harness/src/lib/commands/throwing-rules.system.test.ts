import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkshop, readEpisodes, type Workshop } from '../fixtures/episodic.fixture.ts'

/** The functions of a world that throw by its parameter `where`, with how a failure names them. */
const PARTS = {
  start: '`start` of gate',
  observe: '`observe` of gate',
  play: 'Tool push of gate',
  chance: 'Tool push of gate',
  prepare: 'The preparation of tool pull',
  event: 'Event wind of gate',
  reward: 'Reward term "open" of gate',
  potential: '`potential` of gate',
  success: '`success` of gate',
  secrets: '`secrets` of gate',
} as const
type Part = keyof typeof PARTS

const WORDS: Readonly<Partial<Record<Part, string>>> = { chance: 'RangeError: rng.pick needs at least one item' }
const TYPE_ERROR = "TypeError: Cannot read properties of undefined (reading 'name')"

/** Its line of the word FAILS throws. */
const RULES = `export function fail(where, here) {
  if (where === here) return undefined.name // FAILS
}
`

const GATE = `
import { defineEnvironment } from '${import.meta.resolve('@episodic/mcp-server')}'
import { definePolicy } from '${import.meta.resolve('@episodic/env')}'
import { z } from '${import.meta.resolve('zod')}'
import { fail } from './rules/fail.ts'

export const environment = defineEnvironment({
  name: 'gate',
  version: '1.0.0',
  description: 'Open a gate.',
  handle: false,
  params: z.object({ where: z.string().default('WHERE') }),
  state: { public: z.object({ open: z.boolean() }), private: z.object({ where: z.string() }) },
  start({ params }) {
    fail(params.where, 'start') // start
    return { public: { open: false }, private: { where: params.where } }
  },
  observe(_, params) {
    fail(params.where, 'observe') // observe
    return 'A gate.'
  },
  events: ({ event }) => ({
    wind: event({
      description: 'Blows.',
      data: z.object({}),
      apply({ params }) {
        fail(params.where, 'event') // event
      },
    }),
  }),
  tools: ({ tool }) => ({
    push: tool({
      description: 'Push.',
      input: z.object({}),
      play({ state, params, rng, publish, end, say }) {
        fail(params.where, 'play') // play
        if (params.where === 'chance') rng.pick([]) // chance
        publish('wind', {})
        state.public.open = true
        end('open')
        return say('It opens.')
      },
    }),
    PULL
  }),
  rewards: {
    open({ params, end }) {
      fail(params.where, 'reward') // reward
      return end?.reason === 'open' ? 1 : 0
    },
  },
  potential(state, params) {
    fail(params.where, 'potential') // potential
    return 0
  },
  secrets(state) {
    fail(state.private.where, 'secrets') // secrets
    return []
  },
  success({ params }) {
    fail(params.where, 'success') // success
    return true
  },
})

export const solver = definePolicy({
  name: 'pusher',
  start: () => () => ({ tool: 'TOOL', arguments: {} }),
})
`

/** A tool that prepares its steps. `check` cannot play a world that has one. */
const PULL = `pull: tool({
      description: 'Pull.',
      input: z.object({}),
      prepared: z.object({}),
      async prepare({ params }) {
        await null
        fail(params.where, 'prepare') // prepare
        return {}
      },
      play: ({ end, say }) => (end('shut'), say('It stays shut.')),
    }),`

let workshop: Workshop
beforeAll(() => {
  workshop = openWorkshop()
  mkdirSync(join(workshop.folder, 'rules'))
  writeFileSync(join(workshop.folder, 'rules/fail.ts'), RULES)
  for (const part of parts) writeFileSync(join(workshop.folder, `${part}.ts`), moduleOf(part))
})
afterAll(() => workshop[Symbol.dispose]())

const parts = Object.keys(PARTS) as Part[]

function moduleOf(part: Part): string {
  return GATE.replace('WHERE', part)
    .replace('PULL', part === 'prepare' ? PULL : '')
    .replace('TOOL', part === 'prepare' ? 'pull' : 'push')
}

/** The place of the call of a part, such as `play.ts:40:9`. */
function placeOf(part: Part): RegExp {
  const line =
    moduleOf(part)
      .split('\n')
      .findIndex((text) => text.endsWith(`// ${part}`)) + 1
  return new RegExp(`^ +at .*${part}\\.ts:${line}:\\d+\\)?`, 'm')
}

describe('rules that throw', () => {
  it.each(parts)('in `%s` fail their episodes, with the name of the function, file and line', async (part) => {
    const { out, err } = await workshop.main([
      'run',
      `./${part}.ts`,
      '--policy',
      'solver',
      '--tasks',
      '2',
      '--out',
      part,
    ])
    const [record] = readEpisodes(join(workshop.folder, part))
    const message = record?.outcome.kind === 'failed' ? record.outcome.error.message : ''
    expect(message).toContain(`The environment gate failed: ${PARTS[part]} threw: ${WORDS[part] ?? TYPE_ERROR}`)
    expect(message).toMatch(placeOf(part))
    if (part !== 'chance') expect(message).toContain('at fail (rules/fail.ts:2:')
    // A sealed line says nothing about the machine, and nothing of our own code.
    expect(message).not.toContain(workshop.folder)
    expect(message).not.toMatch(/mcp-server|node:/)
    for (const shown of [out, err]) expect(shown).toMatch(placeOf(part))
  })

  it.each(['start', 'play', 'reward'] as const)('in `%s` are named by a check', async (part) => {
    const { status, out } = await workshop.main(['check', `./${part}.ts`, '--only', 'rewards,hygiene'])
    expect(status).toBe(1)
    expect(out).toContain(`${PARTS[part]} threw: ${TYPE_ERROR}`)
    expect(out).toMatch(placeOf(part))
  })
})

describe('a start that its schema does not take', () => {
  it('is named with what is wrong and with the place of the definition', async () => {
    const source = moduleOf('play').replace('public: { open: false }', 'public: {}')
    writeFileSync(join(workshop.folder, 'missing.ts'), source)
    const { err } = await workshop.main([
      'run',
      './missing.ts',
      '--policy',
      'solver',
      '--tasks',
      '1',
      '--out',
      'missing',
    ])
    expect(err).toContain(
      'The start of gate gave a public state that cannot be kept: open is missing: expected boolean.',
    )
    const line = source.split('\n').findIndex((text) => text.includes('= defineEnvironment(')) + 1
    expect(err).toMatch(new RegExp(`^ +at .*missing\\.ts:${line}:`, 'm'))
  })
})

describe('tasks that throw', () => {
  it('are named with their place', async () => {
    const failing = `
import { defineTasks } from '${import.meta.resolve('@episodic/dataset')}'
export const tasks = defineTasks({ environment, generate: ({ index }) => index.first.second }) // generate
`
    const source = `${moduleOf('play')}${failing}`
    writeFileSync(join(workshop.folder, 'untasked.ts'), source)
    const line = source.split('\n').findIndex((text) => text.endsWith('// generate')) + 1
    const { status, err } = await workshop.main([
      'dataset',
      'generate',
      './untasked.ts',
      '--count',
      '1',
      '--out',
      'no.jsonl',
    ])
    expect(status).toBe(1)
    expect(err).toContain("error: Cannot read properties of undefined (reading 'second')")
    expect(err).toMatch(new RegExp(`at .*untasked\\.ts:${line}:`))
  })
})

describe('a policy with a misspelt tool', () => {
  it.each([
    ['tool', "tool: 'pusch'", 'There is no tool "pusch". The tools are: push.'],
    ['argument', "tool: 'push', wrong: 1", 'Invalid arguments for push: force is missing: expected number.'],
  ])('or %s stops its run after ten episodes, unless failFast is 0', async (what, call, refusal) => {
    const rules = moduleOf('play').replace('input: z.object({})', 'input: z.object({ force: z.number() })')
    const source = (what === 'tool' ? moduleOf('play') : rules).replace("tool: 'push'", call)
    writeFileSync(join(workshop.folder, `wrong-${what}.ts`), source)
    const play = ['run', `./wrong-${what}.ts`, '--policy', 'solver', '--tasks', '50', '--max-steps', '3', '--out']
    const stopped = await workshop.main([...play, `stopped-${what}`])
    expect(stopped.status).toBe(1)
    expect(stopped.err).toContain(`in 10 episodes, and no episode ended otherwise, so the run stopped. ${refusal}`)
    expect(readEpisodes(join(workshop.folder, `stopped-${what}`)).length).toBeLessThan(50)
    const { status } = await workshop.main([...play, `all-${what}`, '--file', '{"failFast":0}'])
    expect(status).toBe(0)
    expect(readEpisodes(join(workshop.folder, `all-${what}`))).toHaveLength(50)
  })

  it('is shown its first refusal after the run', async () => {
    const source = moduleOf('play').replace("tool: 'push'", "tool: 'pusch'")
    writeFileSync(join(workshop.folder, 'misspelt.ts'), source)
    const { err, out } = await workshop.main([
      'run',
      './misspelt.ts',
      '--policy',
      'solver',
      '--tasks',
      '1',
      '--max-steps',
      '3',
      '--out',
      'misspelt',
    ])
    expect(err).toContain('3 of 3 steps were refused. The first: There is no tool "pusch". The tools are: push.')
    const lost = 'In 1 of 1 episodes every call named a tool that does not exist: 3 calls. Most often: "pusch" (3).'
    expect(err).toContain(lost)
    expect(out).toContain(lost)
    expect(JSON.parse(readFileSync(join(workshop.folder, 'misspelt', 'summary.json'), 'utf8'))).toMatchObject({
      unknownTools: { episodes: 1, calls: 3, names: [{ name: 'pusch', count: 3 }] },
    })
  })
})
