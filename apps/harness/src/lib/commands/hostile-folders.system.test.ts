import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RUN_FILES } from '@episodic/run/folder/record/run-folder'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorkshop } from '../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

/** Begins lines and commands of runners, sets the title of a terminal, erases it, and turns its text around. */
const HOSTILE =
  'x\nBROKEN\r::error::y\r\n  ::stop-commands::z\u001b]0;t\u0007\u001b[31m\u009b2J\u2028\u202e##[error]\u0000'

const at = (name: string) => join(workshop.folder, 'runs', name)
const FILES = ['run.json', 'summary.json', 'episodes.jsonl'] as const
const linesOf = (file: (typeof FILES)[number]) => {
  const text = readFileSync(join(at('sound'), file), 'utf8')
  return file.endsWith('l') ? text.trimEnd().split('\n') : [text]
}

/** Returns a value with the hostile text at the end of every text under a key, and whether there is one. */
function hostile(value: unknown, wanted: string, key = ''): unknown {
  if (typeof value === 'string') return key === wanted ? value + HOSTILE : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => hostile(item, wanted, key))
  // A key may be a text of somebody, too: a reason, a name of a seat, a term of a reward.
  const name = (own: string) => (wanted === `${key}.*` && !/^\d+$/.test(own) ? own + HOSTILE : own)
  return Object.fromEntries(Object.entries(value).map(([own, inner]) => [name(own), hostile(inner, wanted, own)]))
}

function keysOf(value: unknown, key = '', found = new Set<string>()): Set<string> {
  if (typeof value === 'string') found.add(key)
  else if (Array.isArray(value)) for (const item of value) keysOf(item, key, found)
  else if (typeof value === 'object' && value !== null)
    for (const [own, inner] of Object.entries(value)) keysOf(inner, own, found.add(`${key}.*`))
  return found
}

beforeAll(async () => {
  const run = [
    'run',
    'number-guessing',
    '--policy',
    'random',
    '--tasks',
    '3',
    '--max-steps',
    '3',
    '--out',
    'runs/sound',
  ]
  expect(await workshop.main(run)).toMatchObject({ status: 0 })
}, 60_000)

it.each(FILES)(
  'no text of %s moves a cursor, begins a line or commands a runner, whatever a command says of it',
  async (file) => {
    const keys = new Set(linesOf(file).flatMap((line) => [...keysOf(JSON.parse(line))]))
    expect(keys.size).toBeGreaterThan(9)
    for (const key of keys) {
      cpSync(at('sound'), at('other'), { recursive: true })
      const text = linesOf(file).map((line) => `${JSON.stringify(hostile(JSON.parse(line), key))}\n`)
      writeFileSync(join(at('other'), file), text.join(''))
      rmSync(join(at('other'), 'episodes.idx'), { force: true })
      for (const args of [
        ['report', 'runs/other'],
        ['compare', 'runs/sound', 'runs/other'],
        ['gate', 'runs/other', '--not-worse', 'runs/sound', '--margin', '5points'],
        ['replay', 'runs/other'],
        ['grade', 'runs/other'],
        ['export', 'runs/other', '--format', 'trl-sft', '--out', `exported-${key.replace(/\W/g, '-')}`],
        ['bundle', 'runs/other', '--out', 'bundled.html'],
      ]) {
        const { out, err } = await workshop.main(args, { env: { GITHUB_ACTIONS: 'true' } })
        const said = `${out}${err}`.replace(/^::(error|warning) title=[^:]*::.*$/gm, '')
        expect(said, `${args[0]}, ${key}`).not.toMatch(/(?!\n)\p{Cc}|[\u2028\u202e]|^\s*(::|BROKEN)|##\[/mu)
        expect(`${out}${err}`, `${args[0]}, ${key}`).not.toMatch(/^\s*BROKEN|^::(?!(error|warning) title)/m)
      }
      rmSync(at('other'), { recursive: true })
    }
  },
  600_000,
)

it('a pipe in the place of any file of a run is named, and nothing waits for its other end', async () => {
  for (const name of Object.values(RUN_FILES)) {
    cpSync(at('sound'), at('piped'), { recursive: true })
    rmSync(join(at('piped'), name), { recursive: true, force: true })
    expect(spawnSync('mkfifo', [join(at('piped'), name)]).status).toBe(0)
    for (const args of [
      ['report', 'runs/piped'],
      ['compare', 'runs/sound', 'runs/piped'],
      ['gate', 'runs/piped', '--not-worse', 'runs/sound', '--margin', '5points'],
      ['replay', 'runs/piped'],
      ['grade', 'runs/piped'],
      ['export', 'runs/piped', '--format', 'trl-sft', '--out', 'exported-piped'],
      ['bundle', 'runs/piped', '--out', 'bundled-piped.html'],
      ['run', 'number-guessing', '--resume', 'runs/piped'],
    ]) {
      const { status, out, err } = await workshop.main(args)
      expect(`${out}${err}`, `${args[0]}, ${name}`).toContain(`${name} is not a file`)
      expect(status).not.toBe(0)
    }
    rmSync(at('piped'), { recursive: true })
  }
  expect(spawnSync('mkfifo', [join(workshop.folder, 'lines.jsonl')]).status).toBe(0)
  expect((await workshop.main(['replay', 'lines.jsonl'])).err).toContain('lines.jsonl is not a file')
}, 300_000)
