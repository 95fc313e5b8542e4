import { definePolicy } from '@episodic/env'
import { expect, it } from 'vitest'
import { settingsOf } from '../check-context.ts'
import { HONEST } from '../corpus/corpus.fixture.ts'
import { leverWorld } from '../lever-world.fixture.ts'
import { rehearsedTarget } from '../targets/rehearsed-target.ts'
import type { Attempt, CheckTarget } from '../targets/target.ts'
import { TimeLimit } from '../time-limit.ts'
import { searchTarget } from './check-exploits.ts'

/** A time that is over as `gone` says, from 0 to 1. */
function clock(gone: () => number) {
  class Clock extends TimeLimit {
    override isOver = (share = 1) => gone() >= share
    override partOf = (parts: number) => gone() + (1 - gone()) / parts
  }
  return new Clock(1)
}

function targetOf(world: Parameters<typeof settingsOf>[0], tasks: number) {
  return rehearsedTarget({ world, settings: settingsOf(world, '0'), seed: '0' }, tasks)
}

/** Searches for no hack. */
async function search(target: CheckTarget, time = new TimeLimit(), onProgress = (_done: number, _all: number) => {}) {
  const outcome = await searchTarget(target, { seed: '0', signal: undefined, onProgress, steps: 0, time })
  const { tasks, searched, ...players } = outcome.figures as Record<string, number>
  return { ...outcome, players: Object.keys(players), missed: time.warnings('0')[0]?.what ?? '' }
}

/** Searches a world in a time of so many episodes. */
async function searchFor(episodes: number) {
  let opened = 0
  const { world } = HONEST.find((one) => one.world.environment.name === 'spring-cleaning') as (typeof HONEST)[number]
  const all = targetOf(world, 8)
  const target: typeof all = {
    ...all,
    open(task) {
      opened += 1
      return all.open(task)
    },
  }
  return search(
    target,
    clock(() => opened / episodes),
  )
}

it('lets every player without an aim play some tasks if there is no time for all, and says who was not played', async () => {
  const whole = await searchFor(10_000)
  expect(whole.missed).toBe('')
  const short = await searchFor(40)
  expect(short.players).toEqual(whole.players)
  expect(short.missed).toMatch(/after 4 of 8 tasks for the solver, [12] of 4 tasks for each player without an aim\.$/)
  const shorter = await searchFor(20)
  expect(shorter.players).toEqual(whole.players.filter((player) => player !== 'idles'))
  expect(shorter.missed).toMatch(/ 6 of 7 players without an aim, who idles being left out\.$/)
})

it('lets a player without an aim that was too slow for its part of the time play again in what all others leave', async () => {
  let [gone, isFloor] = [0, false]
  const all = targetOf(leverWorld({ settable: true }), 1)
  const slow = (attempt: Attempt): Attempt => {
    let last = ''
    const step: Attempt['step'] = (action, seat) => {
      if (isFloor && action.tool === 'rewire' && last === 'rewire') gone += 0.1
      last = action.tool
      return attempt.step(action, seat)
    }
    return Object.assign(Object.create(attempt), { step })
  }
  const target: typeof all = { ...all, open: async (task) => slow(await all.open(task)) }
  const { players, missed } = await search(
    target,
    clock(() => gone),
    (done, planned) => {
      isFloor = done >= 0.75 * planned
    },
  )
  // Five of its six steps in its third of the time, and then all six.
  expect(gone).toBeCloseTo(0.4 + 0.5)
  expect(players).toContain('repeats one call of rewire')
  expect(missed).toBe('')
})

it.each([
  [2, 'findings'],
  [8, 'warnings'],
] as const)('of a player without an aim that is paid on two of %s tasks says so in its %s', async (count, where) => {
  const world = leverWorld({ reward: () => 1 })
  const all = targetOf(world, count)
  const tasks = all.tasks.map((task, i) => (i < 2 ? task : { ...task, prompt: '' }))
  const oracle = definePolicy({
    name: 'oracle',
    start(context) {
      if (context.task.prompt === '') throw new Error('I cannot do this.')
      return (world.solver as NonNullable<typeof world.solver>).start(context)
    },
  })
  const { findings, warnings } = await search({ ...all, tasks, oracle })
  const named = { findings, warnings }[where].map(({ name }) => name)
  expect(named).toContain(`exploit-${where === 'findings' ? 'pays' : 'ties'}:sends only invalid calls`)
  expect(findings.some(({ name }) => name.startsWith('exploit-'))).toBe(where === 'findings')
})
