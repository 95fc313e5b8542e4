import type { WaitOptions } from '@episodic/mcp-client'
import { reasonOf } from '@episodic/mcp-client'
import type { JsonObject } from '@episodic/protocol'
import { AgentError } from '../agent-error.ts'
import type { ToolAnswer } from '../connection/tool-answer.ts'
import type { SessionCalls, SessionHealth } from './session-calls.ts'

export interface ToolCall {
  readonly tool: string
  readonly arguments?: JsonObject | undefined
}

export interface TransactionCalls {
  readonly begin: ToolCall
  readonly commit: ToolCall
  readonly rollback: ToolCall
}

export interface TransactionSession extends SessionCalls {
  readonly health: SessionHealth
  /** Closes the connection, so that no call continues in a transaction that may be open. */
  abandon(): Promise<void>
}

export async function runTransaction<T>(
  session: TransactionSession,
  { begin, commit, rollback }: TransactionCalls,
  run: (session: SessionCalls) => Promise<T>,
  { signal }: WaitOptions,
): Promise<T> {
  await beginTransaction(session, begin, { signal })
  let result: T
  try {
    result = await run({
      tools: session.tools,
      callTool: (name, args, options) => session.callTool(name, args, { signal, ...options }),
    })
    signal?.throwIfAborted()
  } catch (cause) {
    throw await rollBack(session, rollback, cause)
  }
  let answer: ToolAnswer
  try {
    // Never repeated, whatever its hints say, because its effect has to be known.
    answer = await session.callTool(commit.tool, commit.arguments, { mayRepeat: false })
  } catch (cause) {
    if (!AgentError.is(cause, 'outcome-unknown')) throw await rollBack(session, rollback, cause)
    await session.abandon()
    throw new AgentError(
      'transaction-unknown',
      `The answer to ${commit.tool} was lost: whether the transaction was kept cannot be known. ${reasonOf(cause)}`,
      { cause },
    )
  }
  if (answer.isError) throw await rollBack(session, rollback, new Error(`${commit.tool} was refused: ${answer.text}`))
  return result
}

async function beginTransaction(session: TransactionSession, begin: ToolCall, options: WaitOptions): Promise<void> {
  let answer: ToolAnswer
  try {
    answer = await session.callTool(begin.tool, begin.arguments, { ...options, mayRepeat: false })
  } catch (error) {
    // The transaction may have begun, and then further calls would be part of it.
    if (options.signal?.aborted || AgentError.is(error, 'outcome-unknown')) await session.abandon()
    throw error
  }
  if (answer.isError)
    throw new AgentError('call-refused', `The transaction did not begin: ${begin.tool} was refused: ${answer.text}`)
}

/** Rolls a transaction back, and resolves with its error. It takes no signal, because it also runs after an abort. */
async function rollBack(session: TransactionSession, rollback: ToolCall, cause: unknown): Promise<AgentError> {
  const why = `It was ended by: ${reasonOf(cause)}`
  if (session.health === 'open') {
    let refusal: string
    try {
      const answer = await session.callTool(rollback.tool, rollback.arguments)
      if (!answer.isError)
        return new AgentError(
          'transaction-rolled-back',
          `The transaction was rolled back, as ${rollback.tool} answered. ${why}`,
          { cause, details: { rollback: 'answered' } },
        )
      refusal = answer.text
    } catch (error) {
      refusal = reasonOf(error)
    }
    if (session.health === 'open') {
      await session.abandon()
      return new AgentError(
        'transaction-unknown',
        `The transaction could not be rolled back: ${rollback.tool} failed: ${refusal} The session was ended. ${why}`,
        { cause },
      )
    }
  }
  return new AgentError(
    'transaction-rolled-back',
    `The session ended before the transaction was committed, and the transaction with it. ${why}`,
    { cause, details: { rollback: 'session-ended' } },
  )
}
