import { type JsonObject, META, METHODS, type OpenResult } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { asking, createTestHost } from '../fixtures/testbed.fixture.ts'
import { inProcess } from './in-process.ts'

const guess = (value: number) => ({ name: 'guess', arguments: { value } })

describe('inProcess', () => {
  it('hands out values that a caller may change, and takes what it was given as it was then', async () => {
    const play = async (use: <T>(value: T) => T) => {
      const channel = inProcess(createTestHost().host)
      const answers: string[] = []
      const ask = async (method: string, params: object) => {
        const answer = await channel.request(method, params as JsonObject)
        use(params)
        answers.push(JSON.stringify(answer))
        return use(answer)
      }
      const request = asking({ seed: 'seed', params: { low: 1, high: 60, maxGuesses: 3 } })
      const { session } = (await channel.request(METHODS.open, { ...request })) as OpenResult
      await ask(METHODS.open, structuredClone(request))
      for (const seq of [0, 1, 2])
        await ask('tools/call', { ...guess(seq + 1), _meta: { [META.session]: session, [META.seq]: seq } })
      await ask(METHODS.watch, { session })
      await ask(METHODS.state, { session })
      await ask(METHODS.snapshot, { session })
      await ask(METHODS.snapshot, { session, at: 1 })
      await ask(METHODS.close, { session })
      return answers
    }
    const changed = await play(overwrite)
    const kept = await play((value) => value)
    expect(changed).toHaveLength(9)
    expect(changed.map(withoutSecrets)).toEqual(kept.map(withoutSecrets))
  })

  it('honours a signal, and closes without closing the host', async () => {
    const { host } = createTestHost()
    const channel = inProcess(host)
    const aborted = AbortSignal.abort(new Error('enough'))
    await expect(channel.request(METHODS.list, {}, { signal: aborted })).rejects.toThrow('enough')
    const { session } = (await channel.request(METHODS.open, { ...asking() })) as OpenResult
    const controller = new AbortController()
    const watching = channel.request(METHODS.watch, { session, wait: 60 }, { signal: controller.signal })
    controller.abort()
    expect(await watching).toEqual({ steps: [], end: null })
    await channel.close()
    await channel.close()
    await expect(channel.request(METHODS.list, {})).rejects.toThrow(/closed/)
    expect(await inProcess(host).request(METHODS.list, {})).toMatchObject({ environments: [{}, {}] })
  })
})

/** Overwrites every bare value within a value, and adds to its lists. */
function overwrite<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === 'object' && inner !== null) overwrite(inner)
    else Reflect.set(value, key, typeof inner === 'number' ? 0.5 : 'overwritten')
  }
  if (Array.isArray(value)) value.push('added')
  return value
}

/** Leaves out what differs between two hosts: ids, handles and times. */
function withoutSecrets(text: string): string {
  return text.replace(/"(id|session|capability|createdAt|touchedAt)":("[^"]*"|\d+)/g, '"$1":""')
}
