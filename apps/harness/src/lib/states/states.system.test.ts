import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rehearse } from '@episodic/mcp-server'
import { loadWorld } from '@episodic/play/worlds/world'
import type { EpisodeRecord, Json } from '@episodic/protocol'
import { applyChanges } from '@episodic/report/view/apply-changes'
import type { EpisodeStates } from '@episodic/report/view/state-changes'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startViewing, type Viewing } from '../commands/show/view/view.fixture.ts'
import { COIN_WORLD, exampleWorld, openWorkshop, readEpisodes } from '../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (...path: string[]) => join(workshop.folder, ...path)
const guessing = exampleWorld('number-guessing')

/** The states of an episode as its rules make them: the start, and after each step. */
async function statesByRules({ params, seed, steps }: EpisodeRecord): Promise<Json[]> {
  const { environment } = await loadWorld(guessing)
  const world = rehearse(environment, { params, seed })
  const shown = () => structuredClone({ public: world.state.public, private: world.state.private }) as unknown as Json
  return [
    shown(),
    ...steps.map(({ action }) => {
      world.play(action.tool, action.arguments)
      return shown()
    }),
  ]
}

async function statesOf(viewing: Viewing, name: string, row: number, query = '?private=1'): Promise<EpisodeStates> {
  const { id } = await viewing.runNamed(name)
  return viewing.json(`/api/r/${id}/states/${row}${query}`)
}

/** A canary: a module that leaves a trace if it is imported. */
const CANARY = (file: string) => `
import { writeFileSync } from 'node:fs'
writeFileSync(${JSON.stringify(file)}, 'imported')
${COIN_WORLD}`

beforeAll(async () => {
  mkdirSync(at('worlds'))
  writeFileSync(at('worlds/coin.ts'), COIN_WORLD)
  for (const args of [
    [guessing, '--policy', 'random', '--tasks', '4', '--out', 'runs/guessing'],
    ['coin', '--tasks', '3', '--out', 'runs/coin'],
    ['coin', '--tasks', '3', '--out', 'runs/sent'],
  ])
    expect((await workshop.main(['run', ...args])).status).toBe(0)
})

describe('GET /api/r/:run/states/:row', () => {
  it('returns the states that the rules make, as changes of each step', async () => {
    const viewing = await startViewing(workshop, ['--world', guessing])
    const episodes = readEpisodes(at('runs/guessing'))
    for (const [row, episode] of episodes.entries()) {
      const states = await statesOf(viewing, 'guessing', row)
      expect(states).toMatchObject({ source: 'replayed', why: null, partsAt: null })
      let now = states.start as Json
      const seen = [now]
      for (const { public: shown, private: hidden } of states.steps) {
        const { public: before, private: secret } = now as { public: Json; private: Json }
        now = { public: applyChanges(before, shown), private: applyChanges(secret, hidden) }
        seen.push(now)
      }
      expect(seen).toEqual(await statesByRules(episode))
    }
    const shown = await statesOf(viewing, 'guessing', 0, '')
    expect(shown.start?.private).toBeNull()
    expect(shown.steps.flatMap((step) => step.private)).toEqual([])
    expect(shown.steps.flatMap((step) => step.public).length).toBeGreaterThan(0)
    viewing.kill('SIGKILL')
  })

  it('finds a world by its name in the folder of the server or among the classics, and says where changed rules part', async () => {
    const viewing = await startViewing(workshop)
    expect(await statesOf(viewing, 'coin', 0)).toMatchObject({
      source: 'replayed',
      partsAt: null,
      steps: [{ step: 0, public: [{ path: '/tossed', before: false, after: true }], private: [] }],
    })
    expect(await statesOf(viewing, 'guessing', 0)).toMatchObject({ source: 'replayed', partsAt: null })
    writeFileSync(at('worlds/coin.ts'), COIN_WORLD.replace('tossed = true', 'tossed = false'))
    const changed = await statesOf(viewing, 'coin', 0)
    expect(changed).toMatchObject({ source: 'replayed', partsAt: 0, steps: [], start: { public: { tossed: false } } })
    expect(changed.why).toMatch(/^The replay parts from the line at step 1: stateHash is /)
    writeFileSync(at('worlds/coin.ts'), COIN_WORLD.replace("version: '1.0.0'", "version: '2.0.0'"))
    expect((await statesOf(viewing, 'coin', 0)).why).toMatch(/There is no world coin 1\.0\.0 .* is coin 2\.0\.0\./)
    writeFileSync(at('worlds/coin.ts'), COIN_WORLD.replace('state.public.tossed = true', 'for (;;) {}'))
    expect((await statesOf(viewing, 'coin', 0)).why).toBe('The replay took longer than 10 s and was stopped.')
    rmSync(at('worlds/coin.ts'))
    expect(await statesOf(viewing, 'coin', 0)).toMatchObject({
      source: 'unavailable',
      why: expect.stringContaining('There is no world coin under worlds/ or examples/'),
    })
    writeFileSync(at('worlds/coin.ts'), COIN_WORLD)
    viewing.kill('SIGKILL')
  })

  it('imports no module that a run names: neither a path, nor a package, nor a name that is a path', async () => {
    const trace = at('imported')
    // A folder that somebody sent: its run.json and its lines name modules within it, and a package.
    writeFileSync(at('runs/sent/world.ts'), CANARY(trace))
    mkdirSync(at('node_modules/sent-world'), { recursive: true })
    writeFileSync(at('node_modules/sent-world/index.js'), CANARY(trace))
    writeFileSync(at('node_modules/sent-world/package.json'), '{"type":"module","main":"index.js"}')
    const manifest = JSON.parse(readFileSync(at('runs/sent/run.json'), 'utf8'))
    const named = [
      at('runs/sent/world.ts'),
      '../runs/sent/world',
      'sent-world',
      '../../runs/sent/world.ts',
      './runs/sent',
    ]
    const lines = readEpisodes(at('runs/sent'))
    for (const [i, name] of named.entries()) {
      const folder = at('runs', `sent-${i}`)
      cpSync(at('runs/sent'), folder, { recursive: true })
      const environment = { name, version: '1.0.0' }
      const sources = { ...manifest.sources, world: { reference: name, file: 'world.ts', sha256: '0' } }
      const configuration = { ...manifest.configuration, environment }
      writeFileSync(
        join(folder, 'run.json'),
        JSON.stringify({ ...manifest, name: `sent-${i}`, configuration, sources }),
      )
      const edited = lines.map((line) => `${JSON.stringify({ ...line, environment })}\n`)
      writeFileSync(join(folder, 'episodes.jsonl'), edited.join(''))
      rmSync(join(folder, 'episodes.idx'), { force: true })
    }
    const viewing = await startViewing(workshop)
    for (const i of named.keys()) {
      const states = await statesOf(viewing, `sent-${i}`, 0)
      expect(states).toMatchObject({ source: 'unavailable', why: expect.stringContaining('There is no world') })
      const { id } = await viewing.runNamed(`sent-${i}`)
      expect((await viewing.get(`/api/r/${id}`)).status).toBe(200)
    }
    expect(existsSync(trace)).toBe(false)
    // The canary works: the person who starts the server may name it.
    const trusting = await startViewing(workshop, ['--world', at('runs/sent/world.ts')])
    expect(await statesOf(trusting, 'sent', 0)).toMatchObject({ source: 'replayed', partsAt: null })
    expect(existsSync(trace)).toBe(true)
  })
})
