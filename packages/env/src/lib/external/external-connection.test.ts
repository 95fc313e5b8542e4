import type { EnvironmentInfo } from '@episodic/protocol'
import { DEFAULT_LIMITS } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import type { CallOptions } from '../session/call-options.ts'
import { createExternalConnection } from './external-connection.ts'
import type { ExternalStep, ExternalTurn } from './external-session.ts'

const INFO: EnvironmentInfo = {
  name: 'world',
  version: '1.0.0',
  description: 'A world.',
  paramsSchema: {},
  tools: [],
  terms: ['reward'],
  potential: false,
  forkable: false,
  limits: DEFAULT_LIMITS,
}
const act = { tool: 'act', arguments: {} }
const said = (text: string): ExternalStep => ({
  observation: { text, structured: null },
  refused: null,
  terms: { reward: 1 },
  end: null,
})

/** An environment with what its server answers, its clock, and what was asked of the server. */
function open(answer: (options: CallOptions) => ExternalStep | Promise<ExternalStep>) {
  const turns: ExternalTurn[] = []
  const clock = { time: 0 }
  const connection = createExternalConnection({
    environments: [INFO],
    guarantees: { system: 'ors', replay: false, delivery: 'at-most-once', seed: 'ignored' },
    now: () => clock.time,
    open: async (_, { params }) => ({
      params,
      observation: { text: 'Act.', structured: null },
      async play(turn, options) {
        turns.push(turn)
        return answer(options)
      },
      close: async () => {},
    }),
  })
  return { environment: connection.environment(), clock, turns }
}

describe('an environment of another system', () => {
  it('says which step is late, and ends with it', async () => {
    const { environment, clock, turns } = open(() => said('Done.'))
    await environment.reset({ limits: { seconds: 5 } })
    clock.time = 4_999
    expect((await environment.step(act)).end).toBeNull()
    clock.time = 5_000
    expect((await environment.step(act)).end).toEqual({ kind: 'truncated', reason: 'time-limit' })
    expect(turns.map(({ late }) => late)).toEqual([false, true])
  })

  it('ends with the last step of its limit', async () => {
    const { environment } = open(() => said('Done.'))
    await environment.reset({ limits: { steps: 2 } })
    expect((await environment.step(act)).end).toBeNull()
    expect((await environment.step(act)).end).toEqual({ kind: 'truncated', reason: 'step-limit' })
    await expect(environment.step(act)).rejects.toMatchObject({ code: 'not-playing' })
  })

  it('takes no further call after a failed one, or after an answer that is too large', async () => {
    for (const answer of [() => Promise.reject(new Error('The line is dead.')), () => said('x'.repeat(200))]) {
      const { environment, turns } = open(answer)
      await environment.reset({ limits: { bytes: 100 } })
      await expect(environment.step(act)).rejects.toThrow(/The line is dead|has \d+ bytes, and the limit is 100/)
      await expect(environment.step(act)).rejects.toMatchObject({ code: 'not-playing' })
      expect(turns).toHaveLength(1)
    }
  })

  it('plays on after an abort that came before the call', async () => {
    const { environment } = open(() => said('Done.'))
    await environment.reset()
    await expect(environment.step(act, { signal: AbortSignal.abort(new Error('Enough.')) })).rejects.toThrow('Enough.')
    expect((await environment.step(act)).info.seq).toBe(1)
  })

  it('is neither forked nor takes events', async () => {
    const { environment } = open(() => said('Done.'))
    await environment.reset()
    const asked = [() => environment.fork(), () => environment.snapshot(), () => environment.restore({} as never)]
    for (const ask of asked) await expect(ask()).rejects.toMatchObject({ name: 'EnvError', code: 'not-forkable' })
    await expect(environment.publish({ type: 'dawn' })).rejects.toMatchObject({ code: 'option-invalid' })
  })
})
