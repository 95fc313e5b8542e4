import type { EpisodeEnd } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openCountingSession } from '../fixtures/counting-session.fixture.ts'
import type { SessionRecord } from './session-record.ts'
import { decideStep, type StepRequest } from './step.ts'

const OVER: EpisodeEnd = { kind: 'terminated', reason: 'full' }

/** A record whose seat has answered `seq` steps. */
async function recordAt(seq: number, changes: Partial<SessionRecord> = {}): Promise<SessionRecord> {
  const { session } = await openCountingSession()
  const last = seq === 0 ? null : seq + 10
  return { ...session.record, epoch: 3, seats: { agent: { seq, last } }, ...changes }
}

function verdictOf(record: SessionRecord, request: Partial<StepRequest>): string {
  try {
    const verdict = decideStep(record, { seat: 'agent', ...request })
    return verdict.kind === 'replay' ? `replay ${verdict.revision}` : verdict.kind
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('decideStep', () => {
  it('plays the next step, and any step that names no seq', async () => {
    for (const seq of [0, 1, 7]) {
      expect(verdictOf(await recordAt(seq), { seq })).toBe('play')
      expect(verdictOf(await recordAt(seq), {})).toBe('play')
    }
  })

  it('takes the last step again for a replay, also after the end', async () => {
    for (const end of [null, OVER]) {
      const record = await recordAt(4, { end })
      expect(verdictOf(record, { seq: 3 })).toBe('replay 14')
    }
  })

  it('refuses new steps after the end', async () => {
    expect(verdictOf(await recordAt(4, { end: OVER }), { seq: 4 })).toBe('episode-ended')
    expect(verdictOf(await recordAt(4, { end: OVER }), {})).toBe('episode-ended')
  })

  it('fences an older epoch before it looks at anything else', async () => {
    const record = await recordAt(4, { end: OVER })
    for (const seq of [undefined, 0, 3, 4, 5]) expect(verdictOf(record, { seq, epoch: 2 })).toBe('fenced')
    expect(verdictOf(record, { seq: 3, epoch: 3 })).toBe('replay 14')
  })

  it('throws state-lost for a caller that knows of more than the record', async () => {
    const record = await recordAt(4)
    for (const ahead of [{ seq: 5 }, { seq: 99 }, { epoch: 4 }, { seq: 4, epoch: 9 }])
      expect(verdictOf(record, ahead)).toBe('state-lost')
  })

  it('plays, replays or refuses by one comparison, whatever the numbers', async () => {
    const start = await recordAt(0)
    fc.assert(
      fc.property(fc.nat(20), fc.nat(22), (answered, seq) => {
        const last = answered === 0 ? null : answered
        const record = { ...start, seats: { agent: { seq: answered, last } } }
        const expected =
          seq === answered
            ? 'play'
            : seq === answered - 1
              ? `replay ${answered}`
              : seq > answered
                ? 'state-lost'
                : 'seq-conflict'
        expect(verdictOf(record, { seq })).toBe(expected)
      }),
    )
  })
})
