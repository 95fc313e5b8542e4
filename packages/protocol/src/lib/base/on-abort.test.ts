import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { abortable } from './clock.ts'
import { onAbort } from './on-abort.ts'

describe('onAbort', () => {
  it('calls each listener once, in the order in which they were given, and not those that were removed', () => {
    const abort = new AbortController()
    const called: string[] = []
    onAbort(abort.signal, () => called.push('first'))
    const stop = onAbort(abort.signal, () => called.push('removed'))
    onAbort(abort.signal, () => called.push('second'))
    stop()
    abort.abort()
    expect(called).toEqual(['first', 'second'])
    stop()
    abort.signal.dispatchEvent(new Event('abort'))
    expect(called).toHaveLength(2)
  })

  it('keeps a listener that was given twice until both are removed', () => {
    const abort = new AbortController()
    let calls = 0
    const count = () => void calls++
    const stop = onAbort(abort.signal, count)
    onAbort(abort.signal, count)
    stop()
    abort.abort()
    expect(calls).toBe(1)
  })

  it('adds one event listener for any number of listeners, and removes it with the last', () => {
    const { signal } = new AbortController()
    const stops = Array.from({ length: 300 }, () => onAbort(signal, () => {}))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    for (const stop of stops) stop()
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    onAbort(signal, () => {})()
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('does nothing for a signal that is aborted', () => {
    onAbort(AbortSignal.abort(), () => {
      throw new Error('called')
    })()
  })
})

describe('abortable', () => {
  it('settles as the promise does, and removes its listener', async () => {
    const { signal } = new AbortController()
    await expect(abortable(Promise.resolve(1), signal)).resolves.toBe(1)
    await expect(abortable(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it("rejects with the signal's reason, before and after the abort", async () => {
    const abort = new AbortController()
    const waiting = abortable(new Promise(() => {}), abort.signal)
    abort.abort(new Error('stopped'))
    await expect(waiting).rejects.toThrow('stopped')
    await expect(abortable(new Promise(() => {}), abort.signal)).rejects.toThrow('stopped')
  })
})
