import { expect, it } from 'vitest'
import { settingsOf } from '../check-context.ts'
import { HONEST } from '../corpus/corpus.fixture.ts'
import { rehearsedTarget } from '../targets/rehearsed-target.ts'
import { TimeLimit } from '../time-limit.ts'
import { searchTarget } from './check-exploits.ts'

const TASKS = 8

/** Searches a world for no hack in a time of so many episodes. */
async function searchFor(episodes: number) {
  let opened = 0
  class Counted extends TimeLimit {
    override isOver = (share = 1) => opened >= share * episodes
    override partOf = (parts: number) => opened / episodes + (1 - opened / episodes) / parts
  }
  const { world } = HONEST.find((one) => one.world.environment.name === 'spring-cleaning') as (typeof HONEST)[number]
  const settings = settingsOf(world, '0')
  const all = rehearsedTarget({ world, settings, seed: '0' }, TASKS)
  const target: typeof all = {
    ...all,
    open(task) {
      opened += 1
      return all.open(task)
    },
  }
  const time = new Counted(1)
  const asked = { seed: '0', signal: undefined, onProgress: () => {}, steps: 0, time }
  const { figures } = await searchTarget(target, asked)
  const { tasks, searched, ...players } = figures as Record<string, number>
  return { players: Object.keys(players), missed: time.warnings('0')[0]?.what ?? '' }
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
