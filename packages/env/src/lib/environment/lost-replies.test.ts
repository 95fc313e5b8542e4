import { inProcess } from '@episodic/mcp-server'
import type { Channel } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { EnvError } from '../env-error.ts'
import { createWalkHost } from '../fixtures/endpoints.fixture.ts'
import { move } from '../fixtures/walk.fixture.ts'

type Fate = 'arrives' | 'request lost' | 'reply lost'

/** A channel that loses requests and replies as a list of fates says, and loses nothing after it. */
function lossy(channel: Channel, fates: Fate[]): Channel {
  return {
    ...channel,
    async request(method, params, options) {
      const fate = fates.shift() ?? 'arrives'
      if (fate === 'request lost') throw new EnvError('connection-failed', 'Lost on the way there.')
      const reply = await channel.request(method, params, options)
      if (fate === 'reply lost') throw new EnvError('connection-failed', 'Lost on the way back.')
      return reply
    },
  }
}

const anyFates = fc.array(fc.constantFrom<Fate>('arrives', 'request lost', 'reply lost'), { maxLength: 40 })

/** Asks again at once. */
const retry = { attempts: 41, pause: async () => {} }

describe('a lost request or reply', () => {
  it('is retried, and nothing is played twice', async () => {
    await fc.assert(
      fc.asyncProperty(anyFates, fc.string({ minLength: 1 }), async (fates, seed) => {
        await using host = createWalkHost()
        await using direct = await connect(inProcess(host))
        await using reference = direct.environment()
        await reference.reset({ seed })
        await using connection = await connect(lossy(inProcess(host), ['arrives', ...fates]), { retry })
        await using environment = connection.environment()
        await environment.reset({ seed })
        for (let i = 0; i < 5; i++) {
          const { info, ...step } = await environment.step(move(1))
          const { info: expected, ...same } = await reference.step(move(1))
          expect(step).toEqual(same)
          expect(info.seq).toBe(expected.seq)
          if (step.end) break
        }
        await environment.close()
        // One session for the reference, and none that a repeated open or a lost close left behind.
        expect((await host.list({ limit: 10 })).total).toBe(1)
      }),
      { numRuns: 100 },
    )
  })

  it('is marked where the answer is the stored one', async () => {
    await using host = createWalkHost()
    const lost: Fate[] = []
    await using connection = await connect(lossy(inProcess(host), lost), { retry })
    await using environment = connection.environment()
    await environment.reset()
    lost.push('request lost')
    expect((await environment.step(move(0))).info.replayed).toBe(false)
    lost.push('reply lost')
    expect((await environment.step(move(0))).info.replayed).toBe(true)
  })

  it('of the last step can be requested after the end of the episode', async () => {
    await using host = createWalkHost()
    const lost: Fate[] = []
    await using connection = await connect(lossy(inProcess(host), lost), { retry: { attempts: 1 } })
    await using environment = connection.environment()
    await environment.reset({ limits: { steps: 1 } })
    // A step on the spot: the hidden place is never there, so only the budget ends it.
    lost.push('reply lost')
    await expect(environment.step(move(0))).rejects.toMatchObject({ code: 'connection-failed' })
    expect(await environment.step(move(0))).toMatchObject({
      end: { kind: 'truncated', reason: 'step-limit' },
      info: { seq: 1, replayed: true },
    })
    await expect(environment.step(move(0))).rejects.toMatchObject({ code: 'not-playing' })
  })

  it('does not delay close if the server is gone', async () => {
    await using host = createWalkHost()
    const lost: Fate[] = []
    const pauses: number[] = []
    const counting = { attempts: 5, pause: async (milliseconds: number) => void pauses.push(milliseconds) }
    await using connection = await connect(lossy(inProcess(host), lost), { retry: counting })
    const environment = connection.environment()
    await environment.reset()
    lost.push(...Array<Fate>(6).fill('request lost'))
    await expect(environment.step(move(0))).rejects.toMatchObject({ code: 'connection-failed' })
    expect(pauses).toHaveLength(4)
    await expect(environment.close()).rejects.toMatchObject({ code: 'connection-failed' })
    expect(pauses).toHaveLength(4)
    expect(lost).toEqual([])
  })
})
