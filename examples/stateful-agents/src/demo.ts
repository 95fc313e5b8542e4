/** `pnpm demo:stateful`: the same steps with a session a call and with one session. `--help` says more. */
import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunAgent } from './agents/agent.ts'
import { type AgentName, parseDemoOptions, UsageError, usage } from './demo-options.ts'
import { isAsExpected, type PlayOptions, playScene, type Row } from './play-scene.ts'
import { scenes } from './scenes/scenes.ts'
import { formatTable } from './table.ts'

const names = scenes.map(({ name }) => name)
const stopping = new AbortController()
// Ctrl-C stops everything in order, each part within a time limit. A second Ctrl-C has no effect.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort(signal))

try {
  process.exitCode = await runDemo()
} catch (error) {
  if (stopping.signal.aborted) {
    console.error(`Stopped by ${stopping.signal.reason}.`)
    process.exitCode = stopping.signal.reason === 'SIGINT' ? 130 : 143
  } else if (error instanceof UsageError) {
    console.error(`${error.message}\nSee pnpm demo:stateful --help.`)
    process.exitCode = 2
  } else throw error
}

/** Plays the requested scenes, prints the results, and returns the exit code. */
async function runDemo(): Promise<number> {
  const options = parseDemoOptions(process.argv.slice(2), names, process.env)
  if (options.help) {
    console.log(usage(names))
    return 0
  }
  await using kept = createKept()
  const stage: PlayOptions = {
    runAgent: await loadAgent(options.agent),
    scripted: options.agent !== 'openai',
    keep: kept.folder,
    signal: stopping.signal,
  }
  const rows: Row[] = []
  for (const scene of scenes.filter(({ name }) => options.only.includes(name))) {
    if (!options.json) console.error(`${scene.name}: ${scene.title}`)
    for await (const row of playScene(scene, stage)) {
      rows.push(row)
      if (options.json) console.log(JSON.stringify(row))
    }
  }
  if (!options.json) console.log(`\n${formatTable(rows)}`)
  // In CI every program has to be there.
  const wrong = rows.filter((row) => !isAsExpected(row) || (row.kind === 'skipped' && process.env.CI))
  for (const { scene, sessions } of wrong) console.error(`${scene} with ${sessions} did not come out as expected.`)
  return wrong.length === 0 ? 0 : 1
}

/** The folder for files that outlive the demo: created on demand, and removed at the end if it is empty. */
function createKept() {
  let made: Promise<string> | undefined
  return {
    folder() {
      made ??= mkdtemp(join(tmpdir(), 'stateful-agents-kept-'))
      return made
    },
    async [Symbol.asyncDispose]() {
      if (made) await rmdir(await made).catch(() => {})
    },
  }
}

/** Loads only the requested framework, because they are large. */
async function loadAgent(name: AgentName): Promise<RunAgent> {
  if (name === 'langchain') return (await import('./agents/langchain-agent.ts')).runLangchainAgent
  if (name === 'ai-sdk') return (await import('./agents/ai-sdk-agent.ts')).runAiSdkAgent
  const { OPENAI_BASE_URL: baseURL, OPENAI_MODEL: model, OPENAI_API_KEY: apiKey = 'none' } = process.env
  if (!baseURL || !model)
    throw new UsageError('The agent openai wants OPENAI_BASE_URL, such as http://localhost:8000/v1, and OPENAI_MODEL.')
  const { createOpenAiAgent } = await import('./agents/openai-agent.ts')
  return createOpenAiAgent({ baseURL, model, apiKey })
}
