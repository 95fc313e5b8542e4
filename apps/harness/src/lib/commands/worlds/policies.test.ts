import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PolicyContext } from '@episodic/env'
import { findPolicy } from '@episodic/play/worlds/policies'
import { loadWorld, type World } from '@episodic/play/worlds/world'
import { policyFileOf } from '@episodic/run/base/player-names'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld } from '../../fixtures/episodic.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
afterAll(() => rmSync(folder, { recursive: true }))
const context: PolicyContext = { task: { prompt: '', hints: [], params: {} }, tools: [], seed: 'a' }
const observation = { text: '', structured: null }
let world: World

beforeAll(async () => {
  world = await loadWorld(exampleWorld('number-guessing'))
})

/** Asks a policy that a module exports for its first action. */
async function firstOf(source: string) {
  const name = `./${crypto.randomUUID()}.ts`
  writeFileSync(join(folder, name), source)
  const player = await (await findPolicy(name, world, { folder })).start(context)
  return player(observation, { last: null })
}

describe('findPolicy', () => {
  it('finds the random policy, and those of the world', async () => {
    const names = await Promise.all(['random', 'solver', 'careless'].map(async (name) => findPolicy(name, world)))
    expect(names.map(({ name }) => name)).toEqual(['random', world.solver?.name, 'careless'])
    await expect(findPolicy('solver', { ...world, solver: null })).rejects.toMatchObject({ code: 'policy-unknown' })
    await expect(findPolicy('toString', world)).rejects.toMatchObject({ code: 'policy-unknown' })
  })

  it('plays a script, and reports the step at which it is too short', async () => {
    writeFileSync(join(folder, 'script.json'), '[{"tool":"guess","arguments":{"value":1}}]')
    const player = await (await findPolicy('script:script.json', world, { folder })).start(context)
    expect(await player(observation, { last: null })).toEqual({ tool: 'guess', arguments: { value: 1 } })
    await expect(player(observation, { last: null })).rejects.toMatchObject({
      code: 'policy-failed',
      message: expect.stringContaining('The script is over after 1 action'),
    })
  })

  it('plays what a module exports, by name or as its default, and keeps its own `this`', async () => {
    const action = `{ tool: 'guess', arguments: {} }`
    expect(await firstOf(`export const policy = { name: 'a', start: () => () => (${action}) }`)).toMatchObject({
      tool: 'guess',
    })
    const own = `export default { name: 'b', action: ${action}, start() { return () => this.action } }`
    expect(await firstOf(own)).toMatchObject({ tool: 'guess' })
  })

  it.each([
    ['throws at its start', `start() { throw new Error('no model') }`, 'threw: no model'],
    ['throws a value that is not an error', `start: () => () => { throw 'oops' }`, 'threw: oops'],
    ['rejects while it plays', `start: () => async () => { throw new Error('lost') }`, 'threw: lost'],
    ['returns undefined', `start: () => () => undefined`, 'returned undefined'],
    ['returns an action without arguments', `start: () => () => ({ tool: 'guess' })`, 'returned {"tool":"guess"}'],
  ])('reports the fault of a policy that %s', async (_, source, message) => {
    await expect(firstOf(`export const policy = { name: 'bad', ${source} }`)).rejects.toMatchObject({
      code: 'policy-failed',
      message: expect.stringContaining(`The policy "bad" ${message}`),
    })
  })
})

describe('policyFileOf', () => {
  it('distinguishes files from names', () => {
    expect(policyFileOf('solver', '/a')).toBeNull()
    expect(policyFileOf('script:s.json', '/a')).toBe('/a/s.json')
    expect(policyFileOf('./p', '/a')).toBe('/a/p')
    expect(policyFileOf('p.ts', '/a')).toBe('/a/p.ts')
  })
})
