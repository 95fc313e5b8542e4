import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Tally } from '../report.ts'
import type { InstalledServer } from './install-servers.ts'
import type { Call } from './public-servers.ts'
import { endOf, openServerFolder, PLAYER, stepsOf } from './server-runs.ts'

const WORLDS = fileURLToPath(new URL('../../satellites/mcp-worlds/src/index.ts', import.meta.url))

const call = (tool: string, args: object = {}): Call => ({ tool, arguments: args })

/** Calls of a player, each with what its answer has to say. */
const CALLS: readonly (readonly [call: Call, says: RegExp])[] = [
  [call('list_resources'), /"uri":"demo:\/\/resource\/static\/document\/features\.md".*"uriTemplate":/],
  [call('read_resource', { uri: 'demo://resource/static/document/features.md' }), /Everything Server/],
  [call('read_resource', { uri: 'demo://resource/dynamic/text/7' }), /Resource 7/],
  [call('read_resource', { uri: 'demo://no/such' }), /not found/],
  [call('list_prompts'), /"name":"args-prompt".*"required":true/],
  [call('get_prompt', { name: 'args-prompt', arguments: { city: 'Paris' } }), /^user:\nWhat's weather in Paris\?$/],
  [call('get_prompt', { name: 'resource-prompt', arguments: { resourceType: 'Text', resourceId: '3' } }), /Resource 3/],
  [call('trigger-elicitation-request'), /User inputs:\n- Name: Ada/],
]

/** Plays what a server may have besides tools: resources, prompts and questions. Each right answer has passed. */
export async function playEverything(
  server: InstalledServer,
  page: string,
  say: (text: string) => void,
): Promise<Tally> {
  using folder = openServerFolder(server, page, false)
  const world = `import { defineMcpEnvironment, tasksFromFile } from ${JSON.stringify(WORLDS)}
export const environment = await defineMcpEnvironment({
  server: ${JSON.stringify(server.command(join(folder.path, server.program)))},
  resources: true,
  prompts: true,
  elicit: () => ({ name: 'Ada' }),
})
export const tasks = tasksFromFile(environment, new URL('tasks.jsonl', import.meta.url))
`
  writeFileSync(join(folder.path, 'world.mjs'), world)
  writeFileSync(
    join(folder.path, 'tasks.jsonl'),
    JSON.stringify({ prompt: 'Read.', calls: CALLS.map(([made]) => made) }),
  )
  const { err } = await endOf(folder.start(['run', 'world.mjs', '--policy', PLAYER, '--tasks', '1', '--out', 'run']))
  const steps = stepsOf(join(folder.path, 'run'))
  const wrong = CALLS.flatMap(([{ tool }, says], i) => {
    const text = steps[i]?.observation.text ?? ''
    return says.test(text) ? [] : [`${tool} answers ${JSON.stringify(text.slice(0, 300))}, without ${says}`]
  })
  folder.removeServer()
  const replayed = await endOf(folder.start(['replay', 'run']))
  if (replayed.status !== 0) wrong.push(`the replay ends with ${replayed.status}: ${replayed.err}`)
  say(`${wrong.length === 0 ? '✓' : '✗'} resources, prompts and questions of ${server.version}`)
  for (const problem of wrong) console.error(`  ${problem}`)
  if (steps.length === 0) console.error(err)
  return { passed: CALLS.length + 1 - wrong.length, failed: wrong.length }
}
