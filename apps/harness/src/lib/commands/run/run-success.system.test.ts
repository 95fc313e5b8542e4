import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chainOf, type EpisodeRecord } from '@episodic/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  exampleWorld,
  openWorkshop,
  readEpisodes,
  type Workshop,
  withoutTimes,
} from '../../fixtures/episodic.fixture.ts'

/**
 * A game that may be drawn, and pays 0.3 for that. Only a win is a success, and a hidden number decides which game is
 * one: the default rule would call every draw a success.
 */
const GAME = `
import { defineEnvironment } from '${import.meta.resolve('@episodic/mcp-server')}'
import { definePolicy } from '${import.meta.resolve('@episodic/env')}'
import { z } from '${import.meta.resolve('zod')}'
export const environment = defineEnvironment({
  name: 'game',
  version: '1.0.0',
  description: 'Win, or draw.',
  params: z.object({}),
  state: { public: z.object({ passes: z.int() }), private: z.object({ wins: z.boolean() }) },
  limits: { steps: 3 },
  start: ({ rng }) => ({ public: { passes: 0 }, private: { wins: rng.chance(0.5) } }),
  observe: ({ passes }) => passes + ' passes.',
  tools: ({ tool }) => ({
    pass: tool({
      description: 'Passes.',
      input: z.object({}),
      play({ state, say }) { state.public.passes += 1; return say('Passed.') },
    }),
    finish: tool({ description: 'Ends the game.', input: z.object({}), play({ end, say }) { end('over'); return say('Over.') } }),
  }),
  rewards: { result: ({ end, after }) => (end === null ? 0 : after.private.wins ? 1 : 0.3) },
  success: ({ end, state }) => state.private.wins && (end.kind === 'terminated' || state.public.passes === 3),
})
const play = (name, tool) => definePolicy({ name, start: () => () => ({ tool, arguments: {} }) })
export const solver = play('finishing', 'finish')
export const policies = { passing: play('passing', 'pass') }
`

let workshop: Workshop
beforeAll(() => {
  workshop = openWorkshop()
  writeFileSync(join(workshop.folder, 'game.ts'), GAME)
})
afterAll(() => workshop[Symbol.dispose]())

const at = (...path: string[]) => join(workshop.folder, ...path)
const play = (out: string, ...options: string[]) =>
  workshop.main(['run', './game.ts', '--tasks', '12', '--out', out, ...options])
const successesOf = (out: string) => JSON.parse(readFileSync(at(out, 'summary.json'), 'utf8')).success

describe('success that a world defines', () => {
  it('is sealed, counted and shown with its rule, over HTTP too', async () => {
    const { status, out } = await play('played')
    expect(status).toBe(0)
    const episodes = readEpisodes(at('played'))
    const wins = episodes.filter(({ returns }) => returns?.total === 1).length
    expect([wins > 0, wins < 12]).toEqual([true, true])
    for (const { outcome, returns } of episodes)
      expect(outcome).toEqual({
        kind: 'finished',
        end: { kind: 'terminated', reason: 'over' },
        success: returns?.total === 1,
      })
    expect(successesOf('played')).toMatchObject({ rules: ['world'], truncated: 0, overall: { successes: wins } })
    expect(out).toMatch(/success +\d+\.\d %.*\n +of episodes; as defined by the world\n/)
    expect(readFileSync(at('played', 'report.html'), 'utf8')).toContain('Success: as defined by the world.')
    expect((await play('served', '--transport', 'http')).status).toBe(0)
    expect(withoutTimes(readEpisodes(at('served')))).toEqual(withoutTimes(episodes))
  })

  it('is replayed and compared, so that a changed or removed value is found', async () => {
    await play('kept')
    const replay = async (out: string) => {
      const { status, out: said } = await workshop.main(['replay', out, '--world', './game.ts', '--json'])
      return { status, summary: JSON.parse(said) }
    }
    expect(await replay('kept')).toMatchObject({ status: 0, summary: { replayed: 12, diverged: 0 } })
    const [first, ...rest] = readEpisodes(at('kept')) as [EpisodeRecord, ...EpisodeRecord[]]
    if (first.outcome.kind !== 'finished') throw new Error('The game was not played.')
    const { end, success } = first.outcome
    for (const outcome of [
      { kind: 'finished' as const, end, success: !success },
      { kind: 'finished' as const, end },
    ]) {
      const edited = { ...first, outcome }
      for (const line of [edited, { ...edited, chain: chainOf(edited) }]) {
        writeFileSync(at('kept', 'episodes.jsonl'), [line, ...rest].map((kept) => `${JSON.stringify(kept)}\n`).join(''))
        const { status, summary } = await replay('kept')
        expect([status, summary.diverged]).toEqual([1, 1])
        expect(JSON.stringify(summary)).toContain('"field":"success"')
      }
    }
  })

  it('follows the default rule, and is not in the lines, if the world does not define it', async () => {
    const world = exampleWorld('number-guessing')
    const { out } = await workshop.main(['run', world, '--tasks', '4', '--out', 'plain'])
    expect(readFileSync(at('plain', 'episodes.jsonl'), 'utf8')).not.toContain('"success"')
    expect(out).toMatch(/\n +of episodes; terminated with a positive unshaped return\n/)
    const [golden = ''] = readdirSync(join(world, 'golden'))
    for (const line of readFileSync(join(world, 'golden', golden), 'utf8')
      .trimEnd()
      .split('\n')) {
      const record: EpisodeRecord = JSON.parse(line)
      expect(chainOf(record)).toBe(record.chain)
    }
  })
})
