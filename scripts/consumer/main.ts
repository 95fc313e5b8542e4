// What somebody does who installed the packages: it uses only what is published, and exits non-zero when it is wrong.
import assert from 'node:assert/strict'
import { generateTasks } from '@episodic/dataset'
import { openConnection, runEpisode, type Target } from '@episodic/env'
import { createHost, openInProcess } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { openSqliteStore } from '@episodic/state/sqlite'
import { environment, solver, tasks } from './higher-or-lower.ts'

await using store = await openSqliteStore('sessions.db')
await using host = createHost({ environments: [environment], store })
await using server = await serveHttp(host)

let played = 0
await playThrough(openInProcess(host))
await playThrough({ url: server.trustedUrl, token: server.controlToken })
console.log(`${played} episodes played on Node ${process.versions.node}`)

/** Plays a few tasks through a door; the solver finds every number. */
async function playThrough(target: Target): Promise<void> {
  await using connection = await openConnection(target)
  for (const task of generateTasks(tasks, { seed: 'consumer', count: 5 })) {
    const episode = await runEpisode({ createEnvironment: () => connection.environment(), policy: solver, task })
    if (episode.kind === 'failed') throw episode.cause
    assert.deepEqual(episode.end, { kind: 'terminated', reason: 'found' })
    played += 1
  }
}
