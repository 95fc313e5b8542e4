import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COIN_WORLD, openWorkshop, type Workshop } from '../fixtures/episodic.fixture.ts'

let workshop: Workshop
beforeAll(() => {
  workshop = openWorkshop()
})
afterAll(async () => {
  await workshop.killAll()
  workshop[Symbol.dispose]()
})

/** Writes a coin world whose tool does something first. Returns the place of that. */
function writeWorld(name: string, does: string): RegExp {
  const source = COIN_WORLD.replace('state.public.tossed = true', `${does}; state.public.tossed = true`)
  writeFileSync(join(workshop.folder, `${name}.ts`), source)
  const line = source.split('\n').findIndex((text) => text.includes(does)) + 1
  return new RegExp(`at .*${name}\\.ts:${line}:`)
}

describe('rules that never return', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('are named with their place, and %s then ends the run', async (signal) => {
    const place = writeWorld('endless', 'for (;;);')
    const run = workshop.start(['run', './endless.ts', '--tasks', '1', '--out', `endless-${signal}`])
    const [notice] = await run.until(/This code has run for 10 s[\s\S]*Ctrl-C/)
    expect(notice).toMatch(place)
    expect(notice).not.toContain('<anonymous>')
    run.kill(signal)
    expect((await run.ended).status).toBeNull()
  })
})

describe('rules that leave something behind that fails', () => {
  it.each([
    ['rejected', "void Promise.reject(new TypeError('left behind'))", 'TypeError: left behind'],
    ['timed', "setTimeout(() => { throw new TypeError('left behind') }, 1)", 'TypeError: left behind'],
    ['fetched', "void fetch('http://127.0.0.1:1/')", 'TypeError: fetch failed'],
  ])('end the run with their place: %s', async (name, does, words) => {
    const place = writeWorld(name, does)
    const { status, err } = await workshop.run(['run', `./${name}.ts`, '--tasks', '1', '--out', name])
    expect(status).toBe(1)
    expect(err).toContain(`The rules of coin did not await what failed later.`)
    expect(err).toContain(`What failed: ${words}`)
    expect(err).toMatch(place)
    expect(err.match(/^(error:|\w*Error:)/gm)).toHaveLength(1)
    expect(err).not.toMatch(/triggerUncaughtException|Node\.js v/)
  })
})

describe('a Node that is too old', () => {
  it('is one line', async () => {
    const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.0' } })"
    writeFileSync(join(workshop.folder, 'older.mjs'), older)
    const { status, out, err } = await workshop.run(['--version'], {
      env: { NODE_OPTIONS: `--import ${join(workshop.folder, 'older.mjs')}` },
    })
    expect([status, out]).toEqual([1, ''])
    expect(err).toBe(
      'error: Episodic needs Node 22.18 or later, and this is Node 20.20.0. Install a newer one from https://nodejs.org.\n',
    )
  })
})
