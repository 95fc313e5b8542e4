import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StepParts } from '@episodic/report/fold/summary'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  exampleWorld,
  openWorkshop,
  readEpisodes,
  type Serving,
  type Workshop,
  withoutTimes,
} from '../../fixtures/episodic.fixture.ts'

const WORLD = exampleWorld('number-guessing')

let workshop: Workshop
let server: Serving
beforeAll(async () => {
  workshop = openWorkshop()
  server = await workshop.serve([WORLD])
})
afterAll(() => workshop[Symbol.dispose]())

/** Plays 6 episodes. Returns them without their times, and how the run was connected to its world. */
async function play(out: string, options: readonly string[]) {
  const ended = await workshop.main(['run', WORLD, '--tasks', '6', '--out', out, '--json', ...options])
  const { status, err } = ended
  if (status !== 0) return { status, err, transport: null, stepParts: null, episodes: [] }
  const summary = JSON.parse(ended.out)
  expect(summary.counts).toMatchObject({ finished: 6, failed: 0 })
  const folder = join(workshop.folder, out)
  const { played } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
  expect(played.transport).toBe(summary.transport)
  const { stepParts } = summary.time as { stepParts: StepParts | null }
  return {
    status,
    err,
    transport: summary.transport as string,
    stepParts,
    episodes: withoutTimes(readEpisodes(folder)),
  }
}

describe('episodic run --transport', () => {
  it('plays the same episodes in process, over a WebSocket, a pipe and HTTP, and names the one used', async () => {
    const alone = await play('alone', [])
    expect([alone.transport, alone.stepParts]).toEqual(['in-process', null])
    for (const transport of ['websocket', 'stdio', 'http']) {
      const played = await play(transport, ['--transport', transport])
      expect([played.transport, played.episodes]).toEqual([transport, alone.episodes])
      // The server says of every 16th step how long it took.
      const { steps, server, wire, queue } = played.stepParts as StepParts
      const all = readEpisodes(join(workshop.folder, transport)).flatMap((episode) => episode.steps)
      expect(steps).toBe(Math.ceil(all.length / 16))
      expect(server).toBeGreaterThan(0)
      expect(wire).toBeGreaterThan(0)
      expect(queue).toBeGreaterThanOrEqual(0)
    }
    const { out } = await workshop.main(['report', 'websocket'])
    expect(out).toMatch(/^ {2} {2}in the server .* on the wire, .* waiting for the connection and the event loops$/m)
    expect(out).toMatch(/^websocket {2}number-guessing@.* · websocket$/m)
  })

  it('refuses a transport that does not lead to a server at an address', async () => {
    const refused = await play('refused', ['--url', server.url, '--transport', 'stdio'])
    expect(refused.status).not.toBe(0)
    expect(refused.err).toContain('A server at an address is reached over websocket or http, not stdio.')
  })
})
