import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { COIN_WORLD, exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

describe('episodic check', () => {
  it('reports the result of each check, and passes a sound world', async () => {
    const args = ['check', exampleWorld('number-guessing'), '--pairs', '50', '--only', 'hygiene,non-interference']
    const { status, out, err } = await workshop.main(args)
    expect(err).toBe('check 1 of 2: non-interference\ncheck 2 of 2: hygiene\n')
    expect(out).toMatch(/^passed {3}non-interference {2}50 pairs.*0 bytes differ$/m)
    expect(out).toMatch(/^(passed|warned) {3}hygiene /m)
    expect(out).toMatch(/^number-guessing \d+\.\d+\.\d+ passes/m)
    expect(out).not.toContain('canaries')
    expect(status).toBe(0)
  })

  it('fails a world that leaks its private state, with the command that reproduces it and a remedy', async () => {
    const telling = COIN_WORLD.replace('say(', 'say((state.private.heads ? "Clink! " : "Clank! ") + ').replace(
      'reveal(input.heads === state.private.heads)',
      'input.heads === state.private.heads',
    )
    writeFileSync(join(workshop.folder, 'telling.ts'), telling)
    const args = ['check', './telling.ts', '--pairs', '50', '--only', 'non-interference']
    const { status, out } = await workshop.main(args)
    expect(out).toMatch(/^failed {3}non-interference/m)
    for (const words of [
      'where: params',
      'reproduce: episodic check ./telling.ts --seed 0 --pairs 50 --only non-interference',
      'first, from character',
      'Clink!',
      'Clank!',
      'fix: Except for what goes',
    ])
      expect(out).toContain(words)
    expect(status).toBe(1)
    const { out: json } = await workshop.main([...args, '--json'])
    expect(JSON.parse(json)).toMatchObject({ ok: false, checks: [{ name: 'non-interference', outcome: 'failed' }] })
  })

  it('passes the first world of the README without warnings', async () => {
    const world = fileURLToPath(new URL('../../../../../../scripts/consumer/higher-or-lower.ts', import.meta.url))
    const { status, out } = await workshop.main(['check', world])
    expect(out).not.toMatch(/warning|failed/)
    expect(out).toMatch(/^higher-or-lower 1\.0\.0 passes: 7 of 8 checks passed, 1 skipped\.$/m)
    expect(status).toBe(0)
  })

  it('shows each waived finding with its reason, and reports unused waivers', async () => {
    const waiving = COIN_WORLD.replace(
      "description: 'Call a coin.',",
      "description: 'Call a coin.', check: { waive: { 'solver-missing': 'Anybody can call a coin.', 'reward-huge': 'It is worth it.' } },",
    )
    expect(waiving).not.toBe(COIN_WORLD)
    writeFileSync(join(workshop.folder, 'waiving.ts'), waiving)
    const { status, out } = await workshop.main(['check', './waiving.ts', '--pairs', '20'])
    expect(out).toMatch(/waived: .* \[solver-missing\] Reason: Anybody can call a coin\./)
    expect(out).toContain('The waiver "reward-huge" matches no finding.')
    expect(out).toMatch(/passes, with \d+ warnings?: \d of 8 checks passed, \d skipped\.$/m)
    expect(status).toBe(0)
  })

  it('waits for an answer that is held in this process, to a sealed move that no other seat follows', async () => {
    writeFileSync(join(workshop.folder, 'bids.ts'), BIDS)
    const { status, out } = await workshop.run(['check', './bids.ts', '--only', 'canaries', '--quick'])
    expect(out).toMatch(/^bids 1\.0\.0 passes/m)
    expect(status).toBe(0)
  })

  it('lists the checks if --only names an unknown one', async () => {
    const { status, err } = await workshop.main(['check', exampleWorld('frozen-lake'), '--only', 'secrets'])
    expect(err).toContain('There is no check "secrets". The checks are: non-interference, canaries')
    expect(status).toBe(2)
  })
})

/** A game of sealed moves whose rules fail as soon as both have moved, so that a check plays the move of one. */
const BIDS = `
import { defineGame } from '${import.meta.resolve('@episodic/mcp-server')}'
import { z } from '${import.meta.resolve('zod')}'

export const environment = defineGame({
  name: 'bids',
  version: '1.0.0',
  description: 'Bid at once.',
  seats: ['ann', 'bob'],
  utility: 'general',
  state: { public: z.object({}), own: z.object({ bid: z.int() }), private: z.object({}) },
  start: () => ({ public: {}, own: { ann: { bid: 0 }, bob: { bid: 0 } }, private: {} }),
  observe: ({ seat }) => seat,
  turn: () => ['ann', 'bob'],
  tools: ({ sealed }) => ({
    bid: sealed({
      description: 'Bid.',
      input: z.object({ value: z.int().min(0).max(3).describe('How much.') }),
      play({ own, input }) {
        own.bid = input.value
        return undefined
      },
    }),
  }),
  settle() {
    throw new Error('Nobody sells.')
  },
  rewards: {},
})
`
