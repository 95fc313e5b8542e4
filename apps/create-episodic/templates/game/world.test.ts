import { connect, createHost, generateTasks, inProcess, rehearse, runMatch } from 'episodic'
import { expect, test } from 'vitest'
import { environment, solver, tasks } from './world.ts'

test('who takes the last stone wins', () => {
  const world = rehearse(environment, { params: { stones: 4 }, strict: true })
  world.play('take', { count: 1 }, { seat: 'ann' })
  const last = world.play('take', { count: 3 }, { seat: 'bob' })
  expect(last.end).toEqual({ kind: 'terminated', reason: 'empty' })
  expect(world.state.public.winner).toBe('bob')
})

test('more stones than there are cannot be taken', () => {
  const world = rehearse(environment, { params: { stones: 2 } })
  world.play('take', { count: 3 }, { seat: 'ann' })
  expect(world.state.public.stones).toBe(2)
})

test('two solvers play to the end', async () => {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  for (const task of generateTasks(tasks, { seed: 'test', count: 10 })) {
    const match = await runMatch({
      createGame: () => connection.game(environment.name),
      policies: { ann: solver, bob: solver },
      task,
    })
    expect(match.kind).toBe('finished')
  }
})
