import { createHost } from '@episodic/mcp-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tools } from '../fixtures/tricky.fixture.ts'
import type { CallAnswer } from './call-answer.ts'
import { type CallStream, OrsSession } from './ors-session.ts'

async function openSession({ confirmsCalls = false } = {}) {
  const host = createHost({ environments: [tools] })
  onTestFinished(() => host[Symbol.asyncDispose]())
  const requestKey = crypto.randomUUID()
  await host.open(null, { environment: 'tools', requestKey })
  return OrsSession.open(await host.findOpened(null, requestKey), { rewards: 'steps', confirmsCalls }, null)
}

/** A client that goes away at some point of a call. */
function streamOf(gone: 'never' | 'before the id' | 'before the end'): CallStream & { answer: CallAnswer | null } {
  return {
    answer: null,
    announce: async () => gone !== 'before the id',
    async deliver(answer) {
      this.answer = answer
      return gone === 'never'
    },
  }
}

const CALL = { name: 'call', input: {} }
const OTHER = { name: 'not-an.identifier', input: {} }

describe('OrsSession.call', () => {
  const seqOf = async (session: OrsSession, request: { name: string; input: object; task_id?: string }) => {
    const stream = streamOf('never')
    await session.call(request as typeof CALL, stream)
    return stream.answer?.ok ? stream.answer.output.metadata.seq : null
  }

  it('plays nothing for a client that has gone before its turn', async () => {
    const session = await openSession()
    await session.call(CALL, streamOf('before the id'))
    expect(await seqOf(session, CALL)).toBe(1)
  })

  it('plays another call in its place as the next step', async () => {
    const session = await openSession()
    await session.call(CALL, streamOf('before the end'))
    expect(await seqOf(session, OTHER)).toBe(2)
    expect(await seqOf(session, CALL)).toBe(3)
  })

  it('plays a call only when it comes with its id, if calls are to be confirmed', async () => {
    const session = await openSession({ confirmsCalls: true })
    for (const gone of ['never', 'before the id', 'before the end'] as const) {
      const stream = streamOf(gone)
      await session.call(CALL, stream)
      expect(stream.answer).toBeNull()
    }
    const confirmed = { ...CALL, task_id: 'step-0' }
    await session.call(confirmed, streamOf('before the end'))
    expect(await seqOf(session, CALL)).toBeNull()
    expect(await seqOf(session, confirmed)).toBe(1)
    expect(await seqOf(session, { ...CALL, task_id: 'step-1' })).toBe(2)
  })
})
