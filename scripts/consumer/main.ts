// A program of a user who installed the packages: it uses only what is published, and exits non-zero on a failure.
import assert from 'node:assert/strict'
import { createMcpSessions } from '@episodic/agent'
import { serveConversations } from '@episodic/contexts/http'
import { generateTasks } from '@episodic/dataset'
import { connect, runEpisode, type Target } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { openSqliteStore } from '@episodic/state/sqlite'
import { environment, solver, tasks } from './higher-or-lower.ts'
import { smallTalk } from './small-talk.ts'

await using store = await openSqliteStore('sessions.db')
await using host = createHost({ environments: [environment, smallTalk], store })
await using server = await serveHttp(host, { extraRoutes: serveConversations(host, [smallTalk]) })

let played = 0
await playThrough(inProcess(host))
await playThrough({ url: server.trainerUrl, token: server.controlToken })
await talk()
await checkPage()
console.log(`${played} episodes played on Node ${process.versions.node}`)

/** Creates a conversation at the agent endpoint and keeps it over two calls. */
async function talk(): Promise<void> {
  const url = `${server.agentUrl}/e/small-talk`
  await using sessions = createMcpSessions({ mcpServers: { world: { url } } })
  await using session = await sessions.open('world')
  const { structured } = await session.callTool('create_small_talk')
  const { small_talk_id } = structured as { small_talk_id: string }
  for (const text of ['Hello!', 'Hi.'])
    assert.match((await session.callTool('say', { small_talk_id, text })).text, /^Hello to you\./)
}

/** Loads the page of a conversation, with everything that it loads. */
async function checkPage(): Promise<void> {
  const page = await fetch(new URL('/conversations/small-talk', server.agentUrl))
  assert.equal(page.status, 200)
  const loaded = [...(await page.text()).matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, path]) => path as string)
  assert.notEqual(loaded.length, 0)
  for (const path of loaded) assert.equal((await fetch(new URL(path, page.url))).status, 200, path)
}

/** Plays a few tasks on a target; the solver finds every number. */
async function playThrough(target: Target): Promise<void> {
  await using connection = await connect(target)
  for (const task of generateTasks(tasks, { seed: 'consumer', count: 5 })) {
    const episode = await runEpisode({ createEnvironment: () => connection.environment(), policy: solver, task })
    if (episode.kind === 'failed') throw episode.cause
    assert.deepEqual(episode.end, { kind: 'terminated', reason: 'found' })
    played += 1
  }
}
