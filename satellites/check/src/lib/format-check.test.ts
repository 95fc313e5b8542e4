import { defineEnvironment } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkWorld } from './check-world.ts'
import { formatCheck, formatVerdict } from './format-check.ts'
import { leverWorld } from './lever-world.fixture.ts'

const empty = z.object({})

/** A world whose tool may prepare its steps, and whose rules may use the clock. */
function worldOf({ prepares, usesClock = false }: { readonly prepares: boolean; readonly usesClock?: boolean }) {
  return defineEnvironment({
    name: 'terminal',
    version: '1.0.0',
    description: 'Run a command.',
    params: empty,
    state: { public: z.object({ at: z.number() }), private: empty },
    limits: { steps: 3 },
    start: () => ({ public: { at: usesClock ? Date.now() : 0 }, private: {} }),
    observe: () => 'A terminal.',
    tools: ({ tool }) => ({
      run: prepares
        ? tool({
            description: 'Run it.',
            input: empty,
            prepared: empty,
            prepare: () => ({}),
            play: ({ say }) => say('Ran.'),
          })
        : tool({ description: 'Run it.', input: empty, play: ({ say }) => say('Ran.') }),
    }),
    rewards: { cost: () => -1 },
  })
}

describe('formatVerdict', () => {
  it('counts what was skipped and says why, and says that a world passes only if most of the checks ran', async () => {
    const options = { pairs: 2 }
    const prepared = await checkWorld({ environment: worldOf({ prepares: true }) }, options)
    expect(prepared).toMatchObject({ ok: true, outcome: 'incomplete' })
    const verdict = formatVerdict(prepared, false)
    expect(verdict).toMatch(/terminal 1\.0\.0 is not checked enough.*: 3 of 7 checks passed, 4 skipped\./)
    expect(verdict).toMatch(/skipped non-interference, seats, exploits: tool run prepares/)
    const plain = formatVerdict(await checkWorld({ environment: worldOf({ prepares: false }) }, options), false)
    expect(plain).toMatch(/^terminal 1\.0\.0 passes, with \d warnings?: \d of 7 checks passed, \d skipped\.$/m)
  })

  it('names determinism as the first to mend, and checks it first, if its world fails others too', async () => {
    let pulls = 0
    const { environment } = leverWorld({
      onPull({ state }) {
        state.public.board = `${++pulls}`
      },
    })
    const report = await checkWorld({ environment }, { pairs: 20 })
    expect(report.checks[0]).toMatchObject({ name: 'determinism', outcome: 'failed' })
    expect(formatVerdict(report, false)).toMatch(/fails [2-8] of 7 checks.*\nMend determinism first/)
  })
})

describe('formatCheck', () => {
  it('says a cause once, with the seeds where it was found, a command that repeats it and what to use instead', async () => {
    const environment = worldOf({ prepares: false, usesClock: true })
    const { checks } = await checkWorld({ environment }, { only: ['determinism'] })
    const text = checks.map((check) => formatCheck(check, 'episodic check terminal --seed 0', false)).join('\n')
    expect(checks[0]?.findings).toHaveLength(1)
    expect(text).toContain('uses the date of today')
    expect(text).toMatch(/also: 47 more, such as params .*; seeds [\w-]+, [\w-]+/)
    expect(text).toContain('reproduce: episodic check terminal --seed 0 --only determinism')
    expect(text).toContain('fix: Do what the message says')
  })
})
