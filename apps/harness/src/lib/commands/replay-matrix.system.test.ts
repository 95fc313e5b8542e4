import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COIN_WORLD, exampleWorld, openWorkshop, type Workshop } from '../episodic.fixture.ts'
import { has } from '../programs.fixture.ts'

const stores = has('redis-server') ? ['memory', 'sqlite', 'redis'] : ['memory', 'sqlite']

let workshop: Workshop
beforeAll(() => {
  workshop = openWorkshop()
})
afterAll(() => workshop[Symbol.dispose]())

describe('episodic replay --matrix', () => {
  it('records the same bytes with every store and transport, sequentially and concurrently', {
    timeout: 180_000,
  }, async () => {
    const world = ['--world', exampleWorld('number-guessing')]
    const { status, out } = await workshop.run(['replay', '--matrix', '--episodes', '4', ...world, '--json'])
    expect(status).toBe(0)
    const { cells, recording, replaying, ...sums } = JSON.parse(out)
    expect(sums).toMatchObject({ name: 'replay-matrix', ok: true, differingEpisodes: 0, differingBytes: 0 })
    expect(cells.map(({ store, transport, concurrency }: never) => `${store} ${transport} ${concurrency}`)).toEqual(
      stores.flatMap((store) =>
        ['in-process', 'stdio', 'http'].flatMap((transport) =>
          [1, 256].map((count) => `${store} ${transport} ${count}`),
        ),
      ),
    )
    const [{ steps }] = cells
    expect(steps).toBeGreaterThan(0)
    for (const cell of cells) expect(cell).toMatchObject({ episodes: 4, steps, differingEpisodes: 0 })
    expect(recording.stepsPerSecond).toBeGreaterThan(0)
    expect(replaying).toMatchObject({ diverged: 0 })
  })

  it('finds an environment that depends on its store or transport, and names the setting', {
    timeout: 180_000,
  }, async () => {
    // The coins depend on the process.
    const source = COIN_WORLD.replace("say('It fell.', {})", 'say(String(process.pid), {})')
    writeFileSync(join(workshop.folder, 'coin.ts'), source)
    const { status, out, err } = await workshop.run([
      'replay',
      '--matrix',
      '--episodes',
      '2',
      '--world',
      './coin.ts',
      '--json',
    ])
    expect(status).toBe(1)
    expect(err).toContain('differ from what the rules alone play')
    const { ok, cells, differingBytes } = JSON.parse(out)
    expect(ok).toBe(false)
    expect(differingBytes).toBeGreaterThan(0)
    for (const { transport, field, differingEpisodes } of cells)
      expect([transport, field, differingEpisodes]).toEqual(
        transport === 'in-process' ? [transport, null, 0] : [transport, 'steps.0.observation.text', 2],
      )
  })
})
