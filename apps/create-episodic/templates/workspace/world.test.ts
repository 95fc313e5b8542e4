import { connect, createHost, generateTasks, inProcess, rehearse, runEpisode } from 'episodic'
import { expect, test } from 'vitest'
import { environment, solver, tasks } from './world.ts'

test('nothing on the disk says the answer', async () => {
  const world = rehearse(environment, { strict: true })
  const args = { command: 'ls -a /app; cat answer.txt' }
  const prepared = await world.prepare('bash', args)
  expect(world.play('bash', args, { prepared }).observation.text).toMatch(/^\.\n\.\.\naccess\.log\n/)
  expect(world.play('submit', {}).end).toEqual({ kind: 'terminated', reason: 'wrong' })
})

test('the solver finds every page', async () => {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  for (const task of generateTasks(tasks, { seed: 'test', count: 5 })) {
    const episode = await runEpisode({ createEnvironment: () => connection.environment(), policy: solver, task })
    expect(episode).toMatchObject({ kind: 'finished', success: true })
  }
})
