import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { has } from '@episodic/run/base/programs.fixture'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COIN_WORLD, exampleWorld, openWorkshop, type Workshop } from '../../fixtures/episodic.fixture.ts'

const settingsOf = (stores: readonly string[]) =>
  stores.flatMap((store) =>
    ['in-process', 'stdio', 'http'].flatMap((transport) => [1, 256].map((count) => `${store} ${transport} ${count}`)),
  )
const named = (cells: readonly Record<'store' | 'transport' | 'concurrency', unknown>[]) =>
  cells.map(({ store, transport, concurrency }) => `${store} ${transport} ${concurrency}`)

let workshop: Workshop
beforeAll(() => {
  workshop = openWorkshop()
})
afterAll(() => workshop[Symbol.dispose]())

describe('episodic replay --matrix', () => {
  it('records the same bytes with every store and transport, sequentially and concurrently', async () => {
    const world = ['--world', exampleWorld('number-guessing')]
    const { status, out } = await workshop.main(['replay', '--matrix', '--episodes', '4', ...world, '--json'])
    expect(status).toBe(0)
    const { cells, skipped, ...sums } = JSON.parse(out)
    expect(sums).toMatchObject({ name: 'replay-matrix', ok: true, differingEpisodes: 0 })
    const redis = has('redis-server') ? { played: ['redis'], skipped: [] } : { played: [], skipped: ['redis'] }
    expect(named(cells)).toEqual(settingsOf(['memory', 'sqlite', ...redis.played]))
    expect(named(skipped)).toEqual(settingsOf(redis.skipped))
    const [{ steps }] = cells
    expect(steps).toBeGreaterThan(0)
    for (const cell of cells) expect(cell).toMatchObject({ episodes: 4, steps, differingEpisodes: 0 })
  })

  it('finds an environment that depends on its store or transport, and names the setting', async () => {
    // The coins depend on the process.
    const source = COIN_WORLD.replace("say('It fell.', {})", 'say(String(process.pid), {})')
    writeFileSync(join(workshop.folder, 'coin.ts'), source)
    const { status, out, err } = await workshop.main([
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
    const { ok, cells } = JSON.parse(out)
    expect(ok).toBe(false)
    for (const { transport, field, differingEpisodes } of cells)
      expect([transport, field, differingEpisodes]).toEqual(
        transport === 'in-process' ? [transport, null, 0] : [transport, 'steps.0.observation.text', 2],
      )
  })
  it('plays the other settings where there is no Redis, and says which it skips and why', async () => {
    writeFileSync(join(workshop.folder, 'one-coin.ts'), COIN_WORLD)
    const asked = ['replay', '--matrix', '--episodes', '1', '--world', './one-coin.ts', '--json']
    const { status, out, err } = await workshop.main(asked, { env: { PATH: workshop.folder } })
    const { cells, skipped } = JSON.parse(out)
    expect(named(cells)).toEqual(settingsOf(['memory', 'sqlite']))
    expect(named(skipped)).toEqual(settingsOf(['redis']))
    expect(err).toContain('redis, http, 256 in flight: skipped, redis-server is not installed. Install it: apt-get')
    expect(status).toBe(0)
  })
})
