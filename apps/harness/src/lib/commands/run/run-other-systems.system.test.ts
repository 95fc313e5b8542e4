import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runManifestSchema } from '@episodic/run/folder/record/run-folder'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const at = (...path: string[]) => join(workshop.folder, ...path)
const TOKEN = 'the-control-token-of-this-test'

/** The example world, as servers of both systems serve it. */
async function serve(...args: string[]) {
  const serving = await workshop.serve([world, '--openenv', '--ors-port', '0', '--tasks', '12', ...args], {
    env: { EPISODIC_CONTROL_TOKEN: TOKEN },
  })
  const [, ors] = await serving.until(/"orsUrl":"(http:[^"]+)"/)
  return { ...serving, openenv: `openenv:${new URL(serving.url).origin}/openenv/number-guessing`, ors: `ors:${ors}` }
}

const run = (url: string, ...args: string[]) => workshop.main(['run', '--url', url, '--token', TOKEN, ...args])

describe('episodic run --url openenv:…', () => {
  it('plays the environment with different seeds, and says what is not promised', async () => {
    const { openenv, url } = await serve()
    const { status, out } = await run(openenv, '--tasks', '5', '--rollouts', '2', '--out', 'openenv')
    expect(status).toBe(0)
    expect(out).toContain('Its episodes cannot be replayed')
    expect(out).toContain('The server received the seed, and may not use it.')
    const episodes = readEpisodes(at('openenv'))
    expect(episodes).toHaveLength(10)
    expect(new Set(episodes.map(({ seed }) => seed)).size).toBe(5)
    for (const { outcome, steps, returns } of episodes) {
      expect(outcome).toMatchObject({ kind: 'finished', end: { kind: 'terminated' } })
      expect(returns?.total).toBeCloseTo(steps.reduce((sum, { reward }) => sum + (reward.terms.reward ?? 0), 0))
      expect(steps.every(({ stateHash }) => stateHash === null)).toBe(true)
    }
    const manifest = runManifestSchema.parse(JSON.parse(readFileSync(at('openenv', 'run.json'), 'utf8')))
    expect(manifest).toMatchObject({
      configuration: { environment: { name: 'number-guessing', system: 'openenv' } },
      played: {
        transport: new URL(openenv).protocol + new URL(url).origin,
        guarantees: { replay: false, delivery: 'at-most-once', seed: 'passed-on' },
      },
      sources: { world: null },
    })
    expect(JSON.stringify(manifest)).not.toContain(TOKEN)
    expect(readFileSync(at('openenv', 'report.html'), 'utf8')).toContain('Its episodes cannot be replayed')

    const report = await workshop.main(['report', 'openenv', '--json'])
    expect(JSON.parse(report.out)).toMatchObject({ guarantees: { system: 'openenv' }, counts: { finished: 10 } })
    const compared = await workshop.main(['compare', 'openenv', 'openenv'])
    expect(compared.out).toContain('The server may not use the seed')
    for (const args of [[], ['--world', world]]) {
      const replayed = await workshop.main(['replay', 'openenv', ...args])
      expect(replayed.status).not.toBe(0)
      expect(replayed.err).toMatch(/was played on a server of another system/)
    }
    expect((await run(openenv, '--tasks', '5', '--rollouts', '2', '--out', 'openenv', '--resume')).status).toBe(0)
  })

  it('fails an episode whose session is dropped, and gives it no return', async () => {
    const { openenv, pid } = await serve()
    writeFileSync(
      at('killer.ts'),
      `export const policy = { name: 'killer', start: () => async (_, { last }) => {
        if (last) process.kill(${pid}, 'SIGKILL')
        return { tool: 'guess', arguments: { value: 0 } }
      } }`,
    )
    const { status, out } = await run(openenv, '--tasks', '1', '--policy', at('killer.ts'), '--out', 'killed')
    expect(status).not.toBe(0)
    expect(out).toContain('outcome-unknown')
    expect(readEpisodes(at('killed'))).toMatchObject([
      { outcome: { kind: 'failed', error: { code: 'outcome-unknown' } }, returns: null, steps: [{}] },
    ])
  })
})

describe('episodic run --url ors:…', () => {
  it('plays the tasks of the server, in several processes too', async () => {
    const { ors } = await serve()
    const all = await run(ors, 'number-guessing', '--out', 'ors')
    expect(all.status).toBe(0)
    expect(all.out).toContain('The protocol has no seed.')
    expect(new Set(readEpisodes(at('ors')).map(({ task }) => task.id)).size).toBe(12)
    const args = ['--split', 'train', '--processes', '2', '--concurrency', '4', '--out', 'ors-train']
    expect((await workshop.main(['run', '--url', ors, '--token', TOKEN, ...args])).status).toBe(0)
    const train = readEpisodes(at('ors-train'))
    expect(train.every(({ task, params }) => task.split === 'train' && params.split === 'train')).toBe(true)
    expect((await workshop.main(['compare', 'ors', 'ors-train'])).status).toBe(0)
  })

  it('exports no reward for an episode for which the server gave none', async () => {
    const { ors } = await serve('--rewards', 'return')
    await run(ors, '--tasks', '3', '--max-steps', '1', '--out', 'unrewarded')
    const { out } = await workshop.main(['export', 'unrewarded', '--format', 'trl'])
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ reward, mask, return: earned, success }) => [reward, mask, earned, success])).toEqual(
      Array(3).fill([null, false, null, false]),
    )
    const { out: table } = await workshop.main(['export', 'unrewarded', '--format', 'csv'])
    const [header = [], ...rows] = table
      .trimEnd()
      .split('\r\n')
      .map((row) => row.split(','))
    expect(rows.map((row) => row[header.indexOf('return')])).toEqual(['', '', ''])
  })
})

describe('episodic with a server of another system', () => {
  it.each([
    ['a scheme that does not exist', ['--url', 'opnenv:http://127.0.0.1:8000'], /is not a URL of a server/],
    ['no server', ['--url', 'openenv:http://127.0.0.1:1'], /does not answer/],
    ['nothing to play', [], /Nothing to play/],
  ])('rejects %s', async (_, args, message) => {
    const { status, err } = await workshop.main(['run', ...args])
    expect(status).not.toBe(0)
    expect(err).toMatch(message)
  })
})
