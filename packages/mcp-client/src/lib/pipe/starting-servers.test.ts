import { expect, it } from 'vitest'
import { startInTurn } from './open-pipe.ts'

const MOST = Math.max(2, navigator.hardwareConcurrency)

it('starts every server that waits, also when the signal of one is aborted just as its turn comes', async () => {
  const gates = Array.from({ length: MOST }, () => Promise.withResolvers<void>())
  const stop = new AbortController()
  const running = gates.map(({ promise }, index) =>
    startInTurn(async () => {
      await promise
      // After the turn was given to the server that waits first, and before that one goes on.
      if (index === 0) queueMicrotask(() => queueMicrotask(() => stop.abort()))
    }, undefined),
  )
  const first = startInTurn(async () => 'first', stop.signal)
  const second = startInTurn(async () => 'second', undefined)
  gates[0]?.resolve()
  expect(await Promise.all([first, second])).toEqual(['first', 'second'])
  for (const { resolve } of gates) resolve()
  await Promise.all(running)
})
