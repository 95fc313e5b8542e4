import { connect, createHost, generateTasks, inProcess, rehearse, runEpisode } from 'episodic'
import { expect, test } from 'vitest'
import { environment, solver, tasks } from './world.ts'

test('a hole says how far away the treasure is, and finding it ends the episode', () => {
  const world = rehearse(environment, { strict: true, privateState: { treasure: { row: 2, column: 4 } } })

  expect(world.play('dig', { row: 1, column: 1 }).observation.structured).toEqual({ distance: 4 })
  expect(world.end).toBeNull()

  const last = world.play('dig', { row: 2, column: 4 })
  expect(last.end).toEqual({ kind: 'terminated', reason: 'found' })
  expect(last.terms).toEqual({ found: 1, hole: -0.01 })
})

test('a hole outside of the field is refused, and changes nothing', () => {
  const world = rehearse(environment, { params: { size: 3 } })
  expect(world.play('dig', { row: 4, column: 1 }).observation.text).toMatch(/3 rows/)
  expect(world.state.public.holes).toBe(0)
})

test('the solver finds every treasure', async () => {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  for (const task of generateTasks(tasks, { seed: 'test', count: 20 })) {
    const episode = await runEpisode({ createEnvironment: () => connection.environment(), policy: solver, task })
    expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'found' } })
  }
})
