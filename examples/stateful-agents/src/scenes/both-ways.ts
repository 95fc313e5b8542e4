import {
  createMcpSessions,
  type LocalTool,
  openAgentSession,
  type ServerConfig,
  type SessionScope,
  type ToolAnswer,
} from '@episodic/agent'
import type { Script } from '../agents/script.ts'
import { countOpenings } from './count-openings.ts'
import { recordAnswers } from './record-answers.ts'
import type { Play, Scene, Stage } from './scene.ts'

/** A scene with one agent and one server. */
export interface OneAgentScene {
  readonly name: string
  readonly title: string
  /** Opens the servers and tools: new ones for each play. */
  open(stage: Stage): Promise<Setting>
  /** The expected outcome with a session for each call, and with one session. */
  readonly expected: { readonly call: RegExp; readonly agent: RegExp }
}

/** The servers and tools of a scene with one agent. Its opener disposes it. */
export interface Setting extends AsyncDisposable {
  readonly server: ServerConfig
  /** Functions of this program beside the tools of the server. */
  readonly tools?: readonly LocalTool[]
  readonly prompt: string
  readonly script: Script
  /** Returns the outcome from the answers of the server's tools. */
  outcome(answers: readonly ToolAnswer[]): string
}

/**
 * Makes a scene of which the same steps are played with a session a call, and with one session: the scope is all that
 * differs.
 */
export function bothWays({ name, title, open, expected }: OneAgentScene): Scene {
  const play = (sessions: string, scope: SessionScope, expected: RegExp): Play => ({
    sessions,
    works: scope === 'agent',
    expected,
    async run(stage) {
      const { runAgent, signal } = stage
      await using setting = await open(stage)
      const { server, prompt, script, tools = [] } = setting
      await using sessions = countOpenings(createMcpSessions({ mcpServers: { server } }))
      await using opened = await openAgentSession({ sessions, scopes: { server: scope } }, { signal })
      const mcpSession = recordAnswers(opened)
      await runAgent({ prompt, script, mcpSession, tools, signal })
      return { text: setting.outcome(mcpSession.answers), opened: sessions.opened }
    },
  })
  return {
    name,
    title,
    plays: [play('a session a call', 'call', expected.call), play('one session', 'agent', expected.agent)],
  }
}
