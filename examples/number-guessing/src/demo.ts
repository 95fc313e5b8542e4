import assert from 'node:assert/strict'
import { generateTasks } from '@episodic/dataset'
import { connect, returnsOf, runEpisode, withShaping } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { environment, solver, tasks } from './index.ts'

// Plays three tasks, from the easiest to the hardest, and prints every guess with its reward.
await using host = createHost({ environments: [environment] })
await using connection = await connect(inProcess(host))

for (const task of [0, 0.5, 1].flatMap((difficulty) => [
  ...generateTasks(tasks, { seed: 'demo', count: 1, difficulty: [difficulty, difficulty] }),
])) {
  console.log(`\n${task.prompt}`)
  const episode = await runEpisode({
    createEnvironment: () => withShaping(connection.environment()),
    policy: solver,
    task,
  })
  assert(episode.kind === 'finished', 'An episode failed.')
  for (const { observation, reward } of episode.steps) {
    const [said] = observation.text.split('\n')
    console.log(`  ${said?.padEnd(22)} reward ${reward.total.toFixed(3)}, ${reward.shaping.toFixed(3)} of it shaping`)
  }
  const { total, unshaped } = returnsOf(episode.steps, 1)
  console.log(`  ${episode.end.reason}, return ${unshaped.toFixed(2)}, with shaping ${total.toFixed(2)}`)
  assert.equal(episode.end.reason, 'solved')
  assert.equal(unshaped.toFixed(2), (1 - 0.01 * episode.steps.length).toFixed(2))
}
