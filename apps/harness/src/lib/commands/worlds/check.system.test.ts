import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
      'rules: telling.ts:',
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
    // A call of the coin reveals it, so that no two plays can be compared for longer.
    expect(out).toMatch(/is not checked enough, and has \d+ warnings?: \d of 7 checks passed, \d skipped\.$/m)
    expect(out).toMatch(/^ {2}Of \d+ calls in 20 pairs only \d/m)
    expect(status).toBe(0)
  })

  it('lists the checks if --only names an unknown one', async () => {
    const { status, err } = await workshop.main(['check', exampleWorld('frozen-lake'), '--only', 'secrets'])
    expect(err).toContain('There is no check "secrets". The checks are: determinism, non-interference')
    expect(status).toBe(2)
  })
})
