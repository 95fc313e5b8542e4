import { connect, createHost, generateTasks, inProcess, runEpisode } from 'episodic'
import { expect, test } from 'vitest'
import { environment, solver, tasks } from './world.ts'

async function open() {
  const host = createHost({ environments: [environment] })
  return { host, connection: await connect(inProcess(host)) }
}

test('the counter asks for what is missing', async () => {
  const { connection } = await open()
  const guest = connection.environment()
  await guest.reset({ params: { meal: { dish: 'pasta', drink: 'juice' } } })
  const { observation } = await guest.step({ tool: 'say', arguments: { text: 'I would like pasta.' } })
  expect(observation.text).toMatch(/drink/)
  await connection.close()
})

test('the solver gets every meal', async () => {
  const { connection } = await open()
  for (const task of generateTasks(tasks, { seed: 'test', count: 10 })) {
    const episode = await runEpisode({ createEnvironment: () => connection.environment(), policy: solver, task })
    expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'goal-reached' } })
  }
  await connection.close()
})
