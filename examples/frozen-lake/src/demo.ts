import assert from 'node:assert/strict'
import { connect, runEpisode } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { environment, references, solver } from './index.ts'

const EPISODES = 500
await using host = createHost({ environments: [environment] })
await using connection = await connect(inProcess(host))
const play = async (params: { map: '4x4' | '8x8'; slippery: boolean }, seed: string) => {
  const createEnvironment = () => connection.environment()
  const episode = await runEpisode({ createEnvironment, policy: solver, task: { params }, seed })
  assert(episode.kind === 'finished', 'An episode failed.')
  return episode
}

console.log('One episode on firm ice:\n')
const { start, steps, end } = await play({ map: '4x4', slippery: false }, 'demo')
console.log(start.observation.text)
for (const { action, observation } of steps) console.log(`\n> ${action.arguments.direction}\n${observation.text}`)
assert.deepEqual([end.reason, steps.length], ['goal', 6])

console.log(`\nThe goal rate of the best policy on slippery ice, over ${EPISODES} episodes:\n`)
for (const map of ['4x4', '8x8'] as const) {
  let goals = 0
  for (let i = 0; i < EPISODES; i++) {
    const episode = await play({ map, slippery: true }, `demo-${i}`)
    if (episode.end.reason === 'goal') goals += 1
  }
  const reference = references.find(({ id }) => id === `${map}-slippery/optimal`)
  const expected = Number(reference?.value)
  const error = Math.sqrt((expected * (1 - expected)) / EPISODES)
  console.log(`${map}  played ${(goals / EPISODES).toFixed(3)}, computed ${expected.toFixed(3)} ± ${error.toFixed(3)}`)
  assert(Math.abs(goals / EPISODES - expected) < 3 * error, 'The played rate is not the computed one.')
}
