// What somebody does who installed the packages: it uses only what is published, and exits non-zero when it is wrong.
import assert from 'node:assert/strict'
import { defineTasks, generateTasks } from '@episodic/dataset'
import { createHost, openInProcess } from '@episodic/mcp-server'
import { META, METHODS, openResultSchema, stepReportSchema, type Task } from '@episodic/protocol'
import { z } from 'zod'
import { higherOrLower } from './higher-or-lower.ts'

const family = defineTasks({
  name: 'consumer',
  environment: higherOrLower,
  generate: ({ rng, difficulty }) => ({ prompt: 'Find it.', params: { high: rng.int(5, 9) }, difficulty }),
})
const tasks = [...generateTasks(family, { seed: 'consumer', count: 3 })]
assert.equal(tasks.length, 3)

const answerSchema = z.object({
  structuredContent: z.object({ hint: z.string() }),
  _meta: z.object({ [META.step]: stepReportSchema }),
})

await using host = createHost({ environments: [higherOrLower] })
const channel = openInProcess(host)
for (const task of tasks) assert.equal(await play(task), 'found')

console.log(`${tasks.length} episodes played on Node ${process.versions.node}`)

/** Halves the range until the world ends, and says why it did. */
async function play({ id, environment, params, seed }: Task): Promise<string> {
  const opening = { environment: environment.name, params, seed, requestKey: `consumer-${id}` }
  const { session } = openResultSchema.parse(await channel.request(METHODS.open, opening))
  let [low, high] = [1, z.int().parse(params.high)]
  for (let seq = 0; low <= high; seq++) {
    const value = Math.floor((low + high) / 2)
    const call = { name: 'guess', arguments: { value }, _meta: { [META.session]: session, [META.seq]: seq } }
    const answer = answerSchema.parse(await channel.request('tools/call', call))
    const { end } = answer._meta[META.step]
    if (end) return end.reason
    if (answer.structuredContent.hint === 'higher') low = value + 1
    else high = value - 1
  }
  return 'not found'
}
