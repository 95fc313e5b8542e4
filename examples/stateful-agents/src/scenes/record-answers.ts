import type { AgentSession, ToolAnswer } from '@episodic/agent'

/** A session that records the answers of its tools. */
export interface RecordedSession extends AgentSession {
  /** The answers so far, in order. */
  readonly answers: readonly ToolAnswer[]
}

export function recordAnswers(session: AgentSession): RecordedSession {
  const answers: ToolAnswer[] = []
  return {
    ...session,
    answers,
    tools: session.tools.map((tool) => ({
      ...tool,
      async call(input, options) {
        const answer = await tool.call(input, options)
        answers.push(answer)
        return answer
      },
    })),
  }
}
