import { createMcpSessions, openAgentSession, type SessionScope } from '@episodic/agent'
import { countOpenings } from './count-openings.ts'
import { recordAnswers } from './record-answers.ts'
import type { Play, Scene } from './scene.ts'
import { historyOf, think, thinkingPrompt, thinkingServer } from './thinking-scene.ts'

/** Two agents at once, each with three thoughts of its own. */
export const twoAgentsScene: Scene = {
  name: 'two-agents',
  title: 'two agents at once',
  plays: [
    play('a session a call', 'call', /^ada 1, 1, 1; bob 1, 1, 1$/),
    // The order is random, but six thoughts end up in one history.
    play('one session for both', 'shared:both', /^(?=.*4)(?=.*5)(?=.*6)ada \d, \d, \d; bob \d, \d, \d$/),
    play('one session each', 'agent', /^ada 1, 2, 3; bob 1, 2, 3$/),
  ],
}

function play(sessions: string, scope: SessionScope, expected: RegExp): Play {
  return {
    sessions,
    works: scope === 'agent',
    expected,
    async run({ runAgent, signal }) {
      await using sessions = countOpenings(createMcpSessions({ mcpServers: { thinking: thinkingServer } }))
      const histories = await Promise.all(
        ['ada', 'bob'].map(async (name) => {
          await using opened = await openAgentSession({ sessions, scopes: { thinking: scope } }, { signal })
          const mcpSession = recordAnswers(opened)
          await runAgent({ prompt: thinkingPrompt, script: think, mcpSession, tools: [], signal })
          return `${name} ${historyOf(mcpSession.answers)}`
        }),
      )
      return { text: histories.join('; '), opened: sessions.opened }
    },
  }
}
