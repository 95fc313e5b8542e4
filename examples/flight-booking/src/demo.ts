import assert from 'node:assert/strict'
import { generateTasks } from '@episodic/dataset'
import { connect, returnsOf, runEpisode } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import * as desk from './assistant.ts'
import { booking } from './booking.ts'
import { conversation } from './conversation.ts'
import { TODAY } from './goal.ts'
import { environment, solver, tasks } from './index.ts'

console.log('A conversation that digresses and comes back:\n')
let { record } = conversation.start({ now: TODAY })
for (const text of [
  'I want to book a flight',
  'From Lahore to Dubai',
  "What's the weather in Dubai?",
  'and the day after?',
  'on 8 January for two people',
  'no, to Doha',
  'Yes, book it',
]) {
  const interpreted = await conversation.interpret(record, text, { now: TODAY })
  const result = conversation.handleInput(record, { kind: 'utterance', text, interpreted, now: TODAY })
  record = result.record
  console.log(`> ${text}`)
  for (const reply of result.replies) console.log(`    ${reply.text}`)
}
const [booked] = booking.closed(record)
assert.deepEqual([booked?.result?.from, booked?.result?.to], ['LHE', 'DOH'])

console.log('\nThe same as an environment, where the agent is the assistant and the traveller is simulated:\n')
await using host = createHost({ environments: [environment, desk.environment] })
await using connection = await connect(inProcess(host))
const params = { digressions: 2, constraints: 1, slips: 1, typos: true }
const served = await runEpisode({
  createEnvironment: () => connection.environment(desk.environment.name),
  policy: desk.solver,
  task: { params },
  seed: 'demo',
})
assert(served.kind === 'finished', 'The episode failed.')
console.log(served.start.observation.text.split('\n')[0])
for (const { action, observation, reward } of served.steps) {
  const call = action.tool === 'reply' ? 'reply …' : `${action.tool} ${JSON.stringify(action.arguments)}`
  const said = String(observation.structured?.said ?? observation.text.split('\n')[0])
  console.log(`> ${call.padEnd(44)} ${said.slice(0, 70).padEnd(71)} ${reward.total.toFixed(2).padStart(5)}`)
}
console.log(`${served.end.reason}, return ${returnsOf(served.steps, 1).total.toFixed(2)}`)
assert.equal(served.end.reason, 'satisfied')

console.log('\nSuccess of the solver by the number of digressions, over 100 dialogues:\n')
const tallies = new Map<string, { played: number; reached: number }>()
for (const task of generateTasks(tasks, { seed: 'demo', count: 100 })) {
  const createEnvironment = () => connection.environment(environment.name)
  const episode = await runEpisode({ createEnvironment, policy: solver, task })
  assert(episode.kind === 'finished', 'An episode failed.')
  const tag = task.tags.find((one) => one.startsWith('digressions')) as string
  const { played, reached } = tallies.get(tag) ?? { played: 0, reached: 0 }
  tallies.set(tag, { played: played + 1, reached: reached + Number(episode.end.reason === 'goal-reached') })
}
for (const [tag, { played, reached }] of [...tallies].sort()) {
  console.log(`${tag}  ${reached} of ${played}`)
  assert.equal(reached, played)
}
