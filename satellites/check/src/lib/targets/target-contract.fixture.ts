import { randomPolicy } from '@episodic/env'
import type { Action } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import type { Attempt, CheckTarget } from './target.ts'

/** Registers what every target has to keep. `open` makes a new one, which the suite disposes. */
export function describeTarget(name: string, open: () => CheckTarget | Promise<CheckTarget>): void {
  describe(`the target ${name}`, () => {
    it('names its seats and at least one task, each of which opens', async () => {
      await using target = await open()
      expect(target.seats.length).toBeGreaterThan(0)
      expect(target.tasks.length).toBeGreaterThan(0)
      for (const task of target.tasks.slice(0, 3)) {
        await using attempt = await target.open(task)
        expect(attempt.end).toBeNull()
        expect(attempt.turn.length).toBeGreaterThan(0)
        expect(attempt.view(attempt.turn[0]).tools.length).toBeGreaterThan(0)
      }
    })

    it('answers the same actions alike, in a second episode and in a fork', async () => {
      await using target = await open()
      const [task] = target.tasks as [CheckTarget['tasks'][number]]
      await using first = await target.open(task)
      const played: { readonly seat: string; readonly action: Action; readonly seen: unknown }[] = []
      const forks: { readonly at: number; readonly fork: Attempt }[] = []
      const player = await randomPolicy().start({ task, tools: first.view(first.turn[0]).tools, seed: 'contract' })
      for (let at = 0; at < 4 && first.end === null; at++) {
        forks.push({ at, fork: await first.fork() })
        const [seat] = first.turn as [string]
        const { observation, ...view } = first.view(seat)
        const action = await player(observation, view)
        played.push({ seat, action, seen: seenOf(await first.step(action, seat), first) })
      }
      for (const { at, fork } of [...forks, { at: 0, fork: await target.open(task) }]) {
        await using attempt = fork
        for (const { seat, action, seen } of played.slice(at))
          expect(seenOf(await attempt.step(action, seat), attempt)).toEqual(seen)
      }
    })

    it('ends after the last step of its task at the latest, and rejects the next one', async () => {
      await using target = await open()
      const task = { ...(target.tasks[0] as CheckTarget['tasks'][number]), steps: 2 }
      await using attempt = await target.open(task)
      const action = { tool: 'no-such-tool', arguments: {} }
      for (let i = 0; i < 2 * target.seats.length && attempt.end === null; i++) await attempt.step(action)
      expect(attempt.end).not.toBeNull()
      expect(attempt.turn).toEqual([])
      await expect(attempt.step(action, target.seats[0])).rejects.toThrow()
    })
  })
}

function seenOf({ reward, refused, end, observation }: Awaited<ReturnType<Attempt['step']>>, attempt: Attempt) {
  return { reward, refused, end, observation, state: attempt.state, turn: attempt.turn }
}
