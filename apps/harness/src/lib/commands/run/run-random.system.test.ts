import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkshop, readEpisodes, type Workshop, withoutTimes } from '../../fixtures/episodic.fixture.ts'

/** Tic-tac-toe against an opponent that draws. `legal` is the source of its list of legal actions. */
const ticTacToe = (legal: string) => `
import { defineEnvironment } from '${import.meta.resolve('@episodic/mcp-server')}'
import { z } from '${import.meta.resolve('zod')}'
const LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]]
const free = (cells) => [...cells.keys()].filter((cell) => cells[cell] === '')
const wins = (cells, mark) => LINES.some((line) => line.every((cell) => cells[cell] === mark))
export const environment = defineEnvironment({
  name: 'tic-tac-toe',
  version: '1.0.0',
  description: 'Three in a row win.',
  params: z.object({}),
  state: { public: z.object({ cells: z.array(z.enum(['', 'X', 'O'])).max(9) }), private: z.object({}) },
  start: () => ({ public: { cells: Array(9).fill('') }, private: {} }),
  observe: ({ cells }) => cells.map((cell) => cell || '.').join(''),
  tools: ({ tool }) => ({
    place: tool({
      description: 'Places an X.',
      input: z.object({ cell: z.int().min(0).max(8) }),
      play({ state, input, rng, refuse, end, say }) {
        const { cells } = state.public
        if (cells[input.cell] !== '') return refuse('That cell is not free.')
        cells[input.cell] = 'X'
        if (wins(cells, 'X')) end('won')
        else if (free(cells).length === 0) end('drawn')
        else {
          cells[rng.pick(free(cells))] = 'O'
          if (wins(cells, 'O')) end('lost')
        }
        return say('Placed.')
      },
    }),
  }),
  ${legal}
  rewards: { won: ({ end }) => (end?.reason === 'won' ? 1 : end?.reason === 'drawn' ? 0.3 : 0) },
})
`

let workshop: Workshop
beforeAll(() => {
  workshop = openWorkshop()
  const legal = 'legal: ({ cells }) => ({ place: free(cells).map((cell) => ({ cell })) }),'
  writeFileSync(join(workshop.folder, 'says.ts'), ticTacToe(legal))
  writeFileSync(join(workshop.folder, 'silent.ts'), ticTacToe(''))
})
afterAll(() => workshop[Symbol.dispose]())

const at = (...path: string[]) => join(workshop.folder, ...path)

async function play(world: string, out: string, ...options: string[]) {
  const played = await workshop.main([
    'run',
    `./${world}.ts`,
    '--policy',
    'random',
    '--tasks',
    '30',
    '--out',
    out,
    ...options,
  ])
  expect(played.status).toBe(0)
  return { out: played.out, counts: JSON.parse(readFileSync(at(out, 'summary.json'), 'utf8')).counts }
}

describe('episodic run --policy random', () => {
  it('plays only legal actions if the world lists them, the same through every transport', async () => {
    const { counts, out } = await play('says', 'says')
    expect(counts).toMatchObject({ finished: 30, refused: 0 })
    expect(out).not.toContain('refused steps')
    const expected = withoutTimes(readEpisodes(at('says')))
    for (const [folder, ...options] of [
      ['isolated', '--worker-threads'],
      ['served', '--transport', 'http', '--processes', '2'],
    ] as const) {
      await play('says', folder, ...options)
      expect(withoutTimes(readEpisodes(at(folder)))).toEqual(expected)
    }
    // The policy requests the legal actions. They are neither sealed nor shown to players.
    expect(readFileSync(at('says', 'episodes.jsonl'), 'utf8')).not.toContain('legal')
    const replay = await workshop.main(['replay', 'says', '--world', './says.ts', '--json'])
    expect([replay.status, JSON.parse(replay.out)]).toEqual([0, expect.objectContaining({ replayed: 30, diverged: 0 })])
  })

  it('draws again after a refused action otherwise, and the report counts refusals', async () => {
    const { counts, out } = await play('silent', 'silent')
    const steps = readEpisodes(at('silent')).flatMap((record) => record.steps)
    const refused = steps.filter((step) => step.refused !== null).length
    expect(refused).toBeGreaterThan(0)
    expect(counts).toMatchObject({ finished: 30, refused, steps: steps.length })
    const rate = (refused / (steps.length - refused)).toPrecision(3)
    expect(out).toMatch(new RegExp(`refused steps +${refused} +of ${steps.length}, ${rate} for each accepted one`))
    expect(readFileSync(at('silent', 'report.html'), 'utf8')).toContain(
      `<b>${refused}</b> refused steps of ${steps.length}, ${rate} for each accepted one`,
    )
  })
})
