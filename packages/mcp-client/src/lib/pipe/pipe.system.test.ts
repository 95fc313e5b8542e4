import { fileURLToPath } from 'node:url'
import { ENVELOPE, MODERN_VERSION } from '@episodic/protocol/internal'
import { describe, expect, it } from 'vitest'
import type { Elicitation } from '../calls/elicitation.ts'
import { openChannel } from '../open-channel.ts'
import type { ChannelOptions } from '../target.ts'

const SERVER = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../fixtures/modern-pipe.fixture.ts', import.meta.url))],
}

async function open(options: ChannelOptions = {}) {
  const channel = await openChannel(SERVER, options)
  return {
    call: (name: string, signal?: AbortSignal) =>
      channel.request('tools/call', { name, arguments: {} }, { signal }) as Promise<Record<string, never>>,
    [Symbol.asyncDispose]: () => channel.close(),
  }
}

describe('a channel over a pipe', () => {
  it('makes stateless requests without a handshake if the server supports them', async () => {
    await using channel = await open()
    const answers = await Promise.all(['one', 'two', 'three'].map((name) => channel.call(name)))
    expect(answers).toMatchObject([
      { asked: { name: 'one' } },
      { asked: { name: 'two' } },
      { asked: { name: 'three' } },
    ])
    const said = { [ENVELOPE.version]: MODERN_VERSION, [ENVELOPE.capabilities]: {} }
    expect(answers[0]).toMatchObject({ asked: { _meta: said } })
  })

  it('cancels an aborted call', async () => {
    await using channel = await open()
    const abort = new AbortController()
    const waiting = channel.call('wait', abort.signal)
    const reason = new Error('Never mind.')
    abort.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    expect(await channel.call('calls-off')).toMatchObject({ calledOff: [2] })
  })

  it('loses all calls with the process, which no further call will bring back', async () => {
    await using channel = await open()
    const waiting = channel.call('wait')
    waiting.catch(() => {})
    await expect(channel.call('die')).rejects.toMatchObject({
      code: 'lost',
      details: { retryable: false },
    })
    await expect(waiting).rejects.toMatchObject({ code: 'lost' })
    await expect(channel.call('one')).rejects.toMatchObject({ code: 'lost' })
  })

  it.each([
    ['process.exit(3)', 'it ended with status 3.'],
    ["process.kill(process.pid, 'SIGKILL')", 'it was ended by SIGKILL.'],
  ])('says how a command ended that does not start: %s', async (script, ending) => {
    const dying = openChannel({ command: process.execPath, args: ['-e', script] }, {})
    await expect(dying).rejects.toMatchObject({ code: 'lost', message: expect.stringContaining(ending) })
  })

  it('says what a command printed that does not start', async () => {
    const script = 'console.error("No database."); process.exit(3)'
    await expect(openChannel({ command: process.execPath, args: ['-e', script] })).rejects.toThrow(
      /it ended with status 3\. It printed: No database\.$/,
    )
  })

  it('says of a command that does not answer how it is given longer', async () => {
    const silent = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1e6)'], startSeconds: 0.01 }
    await expect(openChannel(silent)).rejects.toThrow(
      /has not answered within 0\.01 seconds of its start.*`startSeconds` beside its `command`\.$/,
    )
  })

  it('answers what the server asks before it answers, and fills in what is left out', async () => {
    const asked: Elicitation[] = []
    await using channel = await open({
      async elicit(elicitation) {
        asked.push(elicitation)
        return { action: 'accept', content: { age: 7 } }
      },
    })
    expect(await channel.call('ask')).toMatchObject({
      asked: {
        inputResponses: { name: { action: 'accept', content: { name: 'nobody', age: 7 } } },
        requestState: 'as it came',
        _meta: { [ENVELOPE.capabilities]: { elicitation: { form: {} } } },
      },
    })
    expect(asked).toMatchObject([{ message: 'Name?', schema: { type: 'object' } }])
  })

  it('passes on that the user declined', async () => {
    for (const action of ['decline', 'cancel'] as const) {
      await using channel = await open({ elicit: async () => ({ action }) })
      expect(await channel.call('ask')).toMatchObject({ asked: { inputResponses: { name: { action } } } })
    }
  })

  it('rejects a question if the channel has no elicit', async () => {
    await using channel = await open()
    await expect(channel.call('ask')).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('Give the channel an elicit'),
    })
  })
})
