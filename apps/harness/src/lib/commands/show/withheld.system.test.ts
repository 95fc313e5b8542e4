import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pageJson } from '@episodic/pages/file/page-content.fixture'
import type { EpisodeRecord } from '@episodic/protocol'
import { sealNameOf } from '@episodic/report/grades/gradable-lines'
import type { RunManifest } from '@episodic/run/folder/record/run-folder'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, sealAgain } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (...path: string[]) => join(workshop.folder, ...path)
const world = exampleWorld('number-guessing')

let genuine: EpisodeRecord[]
let manifest: RunManifest
beforeAll(async () => {
  const args = ['run', world, '--tasks', '3', '--policy', 'random', '--seed', 'genuine-seed', '--out', 'genuine']
  expect(await workshop.main(args)).toMatchObject({ status: 0 })
  genuine = readEpisodes(at('genuine'))
  manifest = JSON.parse(readFileSync(at('genuine/run.json'), 'utf8'))
})

/** Letters that JSON and HTML escape. */
const anyPlant = fc
  .string({ minLength: 6, maxLength: 12, unit: fc.constantFrom(...'abcXYZ019"\\<>&\'\n é') })
  .map((text) => `plant${text.trim()}ed`)

/** All of a page, with what is packed in it, as one text. */
function everythingIn(file: string): string {
  const html = readFileSync(at(file), 'utf8')
  const text = `${html}\n${pageJson(html)}`
  const parts = text.match(/[A-Za-z0-9+/_-]{24,}={0,2}/g) ?? []
  return [text, ...parts.map((part) => Buffer.from(part, 'base64').toString('latin1'))].join('\n')
}

/** A text as it may stand in a page: escaped by JSON up to three times, and by HTML. */
function formsOf(plant: string): string[] {
  const json = (text: string) => JSON.stringify(text).slice(1, -1)
  const html = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
  const written = [plant, json(plant), json(json(plant)), json(json(json(plant)))]
  return [...written, ...written.map(html), ...written.map((form) => form.replaceAll('<', '\\u003c'))]
}

interface Plants {
  readonly seed: string
  readonly policySeed: string
  readonly param: string
  readonly prompt: string
  readonly state: string
}

function plant(folder: string, { seed, policySeed, param, prompt, state }: Plants): void {
  const all = [seed, policySeed, param, prompt].join(' and ')
  const lines = genuine.map((record, i) =>
    sealAgain({
      ...record,
      seed: `${seed} ${i}`,
      // Some are words that a line is made of.
      params: { ...record.params, word: param, nested: { list: [param, 'policy', 'failed', 'success'] } },
      task: { ...record.task, prompt },
      policy: { ...record.policy, seed: policySeed },
      steps: record.steps.map((step) => ({
        ...step,
        observation: { ...step.observation, text: `You see\n${param}.`, data: { [`seen ${param}`]: prompt } },
        prepared: { dice: state },
        completions: [
          {
            model: 'm',
            promptTokens: 1,
            completionTokens: 1,
            cost: null,
            text: `I was sent ${prompt}`,
            calls: [
              { id: 'c', name: 'guess', arguments: JSON.stringify({ note: prompt, again: seed }), played: false },
            ],
          },
        ],
      })),
      ...(i === 0 && {
        returns: null,
        outcome: { kind: 'failed', error: { code: 'policy-failed', message: `${state}: the policy ${all} failed` } },
      }),
    } as unknown as EpisodeRecord),
  )
  mkdirSync(at(folder), { recursive: true })
  writeFileSync(at(folder, 'episodes.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const configuration = { ...manifest.configuration, seed }
  writeFileSync(at(folder, 'run.json'), JSON.stringify({ ...manifest, name: folder, configuration }))
  writeFileSync(
    at(folder, 'stopped.json'),
    JSON.stringify({ format: 1, code: 'failed', message: `${all} ${state}`, at: '2026-01-01T00:00:00Z' }),
  )
  const grades = lines.map((line) => ({
    ...{ format: 1, run: folder, task: line.task.id, attempt: line.attempt, try: 0, seal: sealNameOf(line) },
    grader: { name: 'judge', version: '1', kind: 'model', scale: 'boolean', needs: ['states'] },
    ...{ vote: 0, revision: 0, drawn: true, value: true, why: `Since ${all} and ${state}`, at: '2026-01-01T00:00:00Z' },
    evidence: [{ step: 0, quote: `${state} ${all}`, found: true }],
    asked: {
      ...{ model: 'm', promptTokens: 1, completionTokens: 1, cost: null },
      messages: [{ role: 'user', content: JSON.stringify({ all, state, line }) }],
    },
  }))
  writeFileSync(at(folder, 'grades.jsonl'), grades.map((grade) => `${JSON.stringify(grade)}\n`).join(''))
}

describe('episodic bundle --withhold', () => {
  it('leaves a withheld value in no byte, wherever it stood and however it is written', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(anyPlant, anyPlant, anyPlant, anyPlant, anyPlant),
        async ([seed, policySeed, param, prompt, state]) => {
          const plants = {
            seed: `seed-${seed}`,
            policySeed: `policy-${policySeed}`,
            param: `param-${param}`,
            prompt: `prompt-${prompt}`,
            state: `state-${state}`,
          }
          for (const folder of ['one', 'other']) plant(folder, plants)
          const withheld = ['--withhold', 'seeds,params,prompts,private', '--allow-secrets', '--json']
          const args = ['bundle', 'one', 'other', '--compare', ...withheld, '--out', 'shared.html']
          const { status, err } = await workshop.main(args)
          expect([status, err]).toEqual([0, ''])
          const everything = everythingIn('shared.html')
          expect(everything).toContain('[withheld]')
          for (const [name, value] of Object.entries(plants))
            for (const form of formsOf(value)) expect(everything.includes(form), `${name}: ${form}`).toBe(false)
        },
      ),
      { numRuns: 8, seed: 20_261_125 },
    )
  })

  it('leaves a seed in no name of a run', async () => {
    const seed = 'seed-in-the-middle'
    plant('named', { seed, policySeed: 'policy-seed', param: 'param-x', prompt: 'prompt-x', state: 'state-x' })
    renameSync(at('named'), at(`a-${seed}-b`))
    const run = JSON.parse(readFileSync(at(`a-${seed}-b`, 'run.json'), 'utf8'))
    writeFileSync(at(`a-${seed}-b`, 'run.json'), JSON.stringify({ ...run, name: `a-${seed}-b` }))
    const args = ['bundle', `a-${seed}-b`, '--withhold', 'seeds', '--json', '--out', 'named.html']
    expect(await workshop.main(args)).toMatchObject({ status: 0 })
    expect(everythingIn('named.html')).not.toContain(seed)
  })
})

describe('what is passed on of a run', () => {
  const KEYS = [`AKIA${'ABCDEFGH12345678'}`, `ghp_${'a1B2'.repeat(9)}`]

  it('has no folder of this machine: bundles, reports, comparisons and exports', async () => {
    mkdirSync(at('agents'))
    writeFileSync(at('agents', 'gives-up.mjs'), '')
    const player = `process:${process.execPath} ${at('agents', 'gives-up.mjs')} --home ${at('agents')}/x`
    const set = ['run', world, '--policy', player, '--policy', 'random', '--tasks', '2', '--out', 'pathed']
    expect((await workshop.main(set)).status).toBe(0)
    const [first, second] = JSON.parse(readFileSync(at('pathed/set.json'), 'utf8')).worlds[0].members.map(
      ({ run }: { run: string }) => `pathed/${run}`,
    )
    for (const args of [
      ['bundle', 'pathed', '--out', 'pathed.html'],
      ['bundle', first, second, '--compare', '--out', 'compared.html'],
      ['export', first, '--format', 'csv', '--out', 'pathed.csv', '--world', world],
      ['export', first, '--format', 'otel', '--out', 'pathed.jsonl', '--world', world],
      ['report', first],
    ])
      expect(await workshop.main(args), args.join(' ')).toMatchObject({ status: 0 })
    const texts = [
      ...['pathed.html', 'compared.html', `${first}/report.html`].map(everythingIn),
      ...['pathed.csv', 'pathed.jsonl'].map((file) => readFileSync(at(file), 'utf8')),
    ]
    for (const text of texts) {
      expect(text).toContain('gives-up.mjs')
      expect(text).not.toContain(workshop.folder)
    }
  })

  it('is searched for keys: a report has none, and an export stops', async () => {
    const said = `My keys are ${KEYS.join(' and ')}.`
    const lines = genuine.map((record) =>
      sealAgain({
        ...record,
        steps: record.steps.map((step) => ({ ...step, observation: { ...step.observation, text: said } })),
      }),
    )
    mkdirSync(at('keyed'))
    writeFileSync(at('keyed/run.json'), JSON.stringify(manifest))
    writeFileSync(at('keyed/episodes.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    expect(await workshop.main(['report', 'keyed'])).toMatchObject({ status: 0 })
    const report = everythingIn('keyed/report.html')
    for (const key of KEYS) expect(report).not.toContain(key)
    expect(report).toContain('My keys are [key] and [key].')
    const exporting = ['export', 'keyed', '--format', 'csv', '--world', world]
    const refused = await workshop.main([...exporting, '--out', 'keyed.csv'])
    expect(refused).toMatchObject({
      status: 1,
      err: expect.stringMatching(/attempt 0 looks like a secret: steps\.0\.observation\.text has .*--allow-secrets/),
    })
    for (const key of KEYS) expect(refused.err).not.toContain(key)
    expect(await workshop.main([...exporting, '--allow-secrets'])).toMatchObject({ status: 0 })
    // Only what is exported is searched.
    expect(await workshop.main([...exporting, '--query', 'steps>1000000'])).toMatchObject({ status: 0 })
  })
})
