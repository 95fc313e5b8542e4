import assert from 'node:assert/strict'
import { connect, randomPolicy, returnsOf, runEpisode } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { environment, solver } from './index.ts'

const EPISODES = 50
await using host = createHost({ environments: [environment] })
await using connection = await connect(inProcess(host))
const createEnvironment = () => connection.environment()

const task = { params: { size: 4, articles: 2, bins: 4, orders: 2, capacity: 4, battery: 14 } }
const shown = await runEpisode({ createEnvironment, policy: solver, task, seed: 'demo-3' })
assert(shown.kind === 'finished', 'The episode failed.')
console.log(shown.start.observation.text)
for (const { action, observation, reward } of shown.steps) {
  const call = `${action.tool} ${Object.values(action.arguments).join(' ')}`
  const [said] = observation.text.split('\n')
  console.log(`> ${call.padEnd(12)} ${said?.padEnd(46)} ${reward.total.toFixed(3).padStart(6)}`)
}
console.log(`${shown.end.reason}, return ${returnsOf(shown.steps, 1).total.toFixed(3)}`)
assert.equal(shown.end.reason, 'all-delivered')

console.log(`\nMean return over ${EPISODES} episodes of the default warehouse:`)
const means: number[] = []
for (const policy of [solver, randomPolicy()]) {
  let sum = 0
  for (let i = 0; i < EPISODES; i++) {
    const episode = await runEpisode({ createEnvironment, policy, seed: `demo-${i}`, policySeed: `player-${i}` })
    assert(episode.kind === 'finished', 'An episode failed.')
    sum += returnsOf(episode.steps, 1).total
  }
  means.push(sum / EPISODES)
  console.log(`${policy.name.padEnd(12)} ${(sum / EPISODES).toFixed(3).padStart(6)}`)
}
const [solved = 0, random = 0] = means
assert(solved > random + 0.5, 'The solver does not clearly beat chance.')
