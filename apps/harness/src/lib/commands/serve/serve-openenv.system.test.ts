import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { COIN_WORLD, exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')

describe('episodic serve --openenv', () => {
  it('serves each world with its tasks, to the control token', async () => {
    writeFileSync(join(workshop.folder, 'coin.ts'), COIN_WORLD)
    const args = [world, './coin.ts', '--openenv', '--rewards', 'return', '--tasks', '10']
    const { url, tokenFile, kill, ended } = await workshop.serve(args)
    const token = readFileSync(tokenFile, 'utf8').trim()
    const ask = async (path: string, body?: object) => {
      const response = await fetch(new URL(path, url), {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${token}` },
        ...(body && { body: JSON.stringify(body) }),
      })
      return (await response.json()) as Record<string, unknown>
    }
    const counts = await Promise.all(
      ['train', 'validation', 'test'].map(
        async (split) => (await ask('/openenv/number-guessing/number-guessing/num_tasks', { split })).num_tasks,
      ),
    )
    expect(counts.reduce<number>((sum, count) => sum + Number(count ?? 0), 0)).toBe(10)
    expect(await ask('/openenv/coin/coin/splits')).toContainEqual({ name: 'train', type: 'train' })
    const action = { tool_name: 'guess', arguments: { value: 500 } }
    expect(await ask('/openenv/number-guessing/step', { action })).toMatchObject({
      reward: 0,
      metadata: { return: -0.01 },
    })
    expect((await fetch(new URL('/openenv/coin/state', url))).status).toBe(401)
    kill('SIGTERM')
    expect((await ended).out).toContain('"openEnvUrls":["http://127.0.0.1')
  })

  it.each([
    [['--stdio'], '--openenv needs HTTP'],
    [
      ['--processes', '2', '--store', 'redis://127.0.0.1:1'],
      '--openenv keeps the sessions of its clients in one process',
    ],
    [['--rewards', 'none'], "argument 'none' is invalid"],
  ])('rejects %j', async (args, message) => {
    const { status, err } = await workshop.main(['serve', world, '--openenv', ...args])
    expect([status === 0, err]).toEqual([false, expect.stringContaining(message)])
  })
})
