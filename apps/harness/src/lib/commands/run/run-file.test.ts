import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sampleJson } from '@episodic/env'
import { createRng, type JsonObject } from '@episodic/protocol'
import { toWords } from '@episodic/run/base/options'
import type { Command } from 'commander'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openWorkshop } from '../../fixtures/episodic.fixture.ts'
import { command } from './run.ts'
import { isGiven, readFiles, runFileSchema, toRunFile } from './run-file.ts'
import { RUN_OPTIONS } from './run-options.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

/** The options of a command line, with those of its files, and its worlds. */
function parse(words: readonly string[]): { readonly run: Command; readonly worlds: readonly string[] } {
  const run = command({ out: process.stdout, err: process.stderr })
  run.exitOverride().configureOutput({ writeErr: () => {} })
  run.action(() => {}).parse([...words], { from: 'user' })
  return { run, worlds: readFiles(run.args, run) }
}

function fileOf(words: readonly string[]): JsonObject {
  const { run, worlds } = parse(words)
  return toRunFile(worlds, run) as JsonObject
}

const schema = z.toJSONSchema(runFileSchema, { io: 'input', unrepresentable: 'any' }) as JsonObject
/** Any file whose values are valid, without addresses, which lose their secrets, and without what is not read. */
const anyFile = fc
  .string()
  .map((seed) => {
    const drawn = sampleJson(schema, createRng(seed)) as JsonObject
    const kept = Object.entries(drawn).filter(([name, value]) => {
      const isValid = runFileSchema.safeParse({ [name]: value }).success
      return isValid && !['$schema', 'planned', 'url', 'queue', 'baseUrl'].includes(name)
    })
    return Object.fromEntries(kept)
  })
  .filter(({ worlds }) => !Array.isArray(worlds) || worlds.length > 0)

describe('the file of a run', () => {
  it('is printed as it was read, whatever is in it', () => {
    fc.assert(
      fc.property(anyFile, (file) => {
        expect(fileOf(['--file', JSON.stringify(file)])).toEqual(file)
      }),
      { numRuns: 300 },
    )
  })

  it('has what flags give, and gives it to a run again', () => {
    const all = z.object(Object.assign({}, ...Object.values(RUN_OPTIONS).map(({ shape }) => shape)))
    fc.assert(
      fc.property(anyFile, ({ worlds = [], ...values }) => {
        const words = [...(worlds as string[]), ...toWords(all, values)]
        const printed = fileOf(words)
        const { run } = parse(words)
        const { run: again } = parse(['--file', JSON.stringify(printed)])
        // What was printed names the same, but for what the command line says of its own words.
        expect({ ...again.opts(), file: null }).toEqual({ ...run.opts(), file: null })
        expect(fileOf(['--file', JSON.stringify(printed)])).toEqual(printed)
      }),
      { numRuns: 300 },
    )
  })

  it('gives way to flags, and a later file to none', () => {
    const { run } = parse(['--seed', '3', '--file', '{"seed":"1","rollouts":2}', '--file', '{"rollouts":4}'])
    expect(run.opts()).toMatchObject({ seed: '3', rollouts: 4 })
    expect(['seed', 'rollouts', 'tasks'].map((name) => isGiven(run, name))).toEqual([true, true, false])
    expect(parse(['one', '--file', '{"worlds":["two"]}']).worlds).toEqual(['one'])
    expect(parse(['--file', '{"worlds":["two"]}']).worlds).toEqual(['two'])
  })

  it('has paths of its own folder', async () => {
    mkdirSync(join(workshop.folder, 'given'))
    const file = {
      worlds: ['./mine', 'number-guessing'],
      policy: ['./play.ts', 'script:a.json', 'random', 'llm:a/b', 'process:./agent'],
      seat: { first: 'agent:./agent.ts', second: 'solver' },
      tasks: 'tasks.jsonl',
      dataset: '/tmp/tasks.jsonl',
      systemPrompt: '@brief.md',
      out: 'here',
    }
    writeFileSync(join(workshop.folder, 'given', 'brief.md'), '@all Play well.\n')
    writeFileSync(join(workshop.folder, 'given', 'run.json'), JSON.stringify(file))
    const before = process.cwd()
    process.chdir(workshop.folder)
    try {
      expect(fileOf(['--file', 'given/run.json'])).toEqual({
        worlds: ['given/mine', 'number-guessing'],
        policy: ['given/play.ts', 'script:given/a.json', 'random', 'llm:a/b', 'process:./agent'],
        seat: { first: 'agent:given/agent.ts', second: 'solver' },
        tasks: 'given/tasks.jsonl',
        dataset: '/tmp/tasks.jsonl',
        systemPrompt: '@@all Play well.',
        out: 'given/here',
      })
    } finally {
      process.chdir(before)
    }
  })

  it('is printed without secrets', () => {
    const url = 'http://me:secret@127.0.0.1:1/env?key=secret'
    const words = ['--token', 'secret', '--url', url, '--queue', 'redis://:secret@127.0.0.1:2/0']
    expect(fileOf(words)).toEqual({ url: 'http://127.0.0.1:1/env', queue: 'redis://127.0.0.1:2/0' })
  })

  it.each([
    ['{"outage-limit":3}', 'There is no key "outage-limit": write "outageLimit".'],
    ['{"--seed":"3"}', 'There is no key "--seed": write "seed".'],
    ['{"sead":"3"}', 'There is no key "sead". episodic run --help lists'],
    ['{"json":true}', '"json" is of the command line alone: give --json, and leave it out here.'],
    ['{"outageLimit":"x"}', '"outageLimit" is "x": Give a whole number from 0 up.'],
    ['{"prices":{"prompt":1}}', '"prices.completion" is missing: '],
    ['{"difficulty":[0.5,0.2]}', '"difficulty" is [0.5,0.2]: The lowest difficulty comes first.'],
    ['{"branch":[{"lines":2,"at":3},{"lines":2,"at":3}]}', 'Steps have to ascend.'],
    ['{"seed"', '--file cannot be read as JSON: '],
    ['none.json', '--file none.json cannot be read as JSON: ENOENT'],
  ])('is refused as %s, with the key and what to do', (file, message) => {
    expect(() => parse(['--file', file])).toThrow(message)
  })

  it('is named where a flag is given for one of its keys', () => {
    expect(() => parse(['--outage-limit', '5', '--no-images', '--model-option', 'top_p=1'])).toThrow(
      '--no-images, --model-option, --outage-limit: put {"images":false,"modelOption":{"top_p":1},"outageLimit":5} in a file, such as run.json, and pass --file run.json.',
    )
  })

  it('has a schema in the docs', async () => {
    const file = '../../../../../../docs/operate/run-file.schema.json'
    await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(file)
  })
})
