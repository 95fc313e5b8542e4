import type { AgentSession, ToolAnswer } from '@episodic/agent'

/** A session that keeps what its tools answer. */
export interface RecordedSession extends AgentSession {
  /** What they answered so far, in that order. */
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
