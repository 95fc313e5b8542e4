import { AgentError, createMcpSessions, type McpSession, type McpSessions } from '@episodic/agent'
import { BALANCE, balanceOf, openAccounts, WITHDRAW } from './accounts.ts'
import { countOpenings } from './count-openings.ts'
import type { Play, Scene } from './scene.ts'

/** Runs a statement in a session. */
type Query = (sql: string) => ReturnType<McpSession['callTool']>

/** A withdrawal that fails half-way, in a program without an agent: `session.transaction` rolls it back. */
export const transactionScene: Scene = {
  name: 'transaction',
  title: 'PostgreSQL: a program that throws in the middle of a withdrawal',
  plays: [
    play('a session a call', withdrawInSessions, /^ada has 60: the withdrawal stayed$/),
    play('one session', withdrawInTransaction, /^ada has 100: the withdrawal was rolled back$/),
  ],
}

type Withdraw = (sessions: McpSessions, signal: AbortSignal) => Promise<void>

function play(sessions: string, attempt: Withdraw, expected: RegExp): Play {
  return {
    sessions,
    works: attempt === withdrawInTransaction,
    expected,
    async run({ signal }) {
      await using accounts = await openAccounts(signal)
      await using sessions = countOpenings(createMcpSessions({ mcpServers: { database: accounts.server } }))
      await attempt(sessions, signal)
      const { opened } = sessions
      await using session = await sessions.open('database', { signal })
      const balance = balanceOf(await session.callTool('query', { sql: BALANCE }, { signal }))
      return { text: `ada has ${balance}: the withdrawal ${balance === 100 ? 'was rolled back' : 'stayed'}`, opened }
    },
  }
}

async function withdrawInSessions(sessions: McpSessions, signal: AbortSignal): Promise<void> {
  const query: Query = async (sql) => {
    await using session = await sessions.open('database', { signal })
    return await session.callTool('query', { sql }, { signal })
  }
  try {
    await query('BEGIN')
    await withdraw(query)
    await query('COMMIT')
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof EmptyMachine)) throw error
    await query('ROLLBACK')
  }
}

async function withdrawInTransaction(sessions: McpSessions, signal: AbortSignal): Promise<void> {
  await using session = await sessions.open('database', { signal })
  const statement = (sql: string) => ({ tool: 'query', arguments: { sql } })
  const calls = { begin: statement('BEGIN'), commit: statement('COMMIT'), rollback: statement('ROLLBACK') }
  try {
    await session.transaction(calls, ({ callTool }) => withdraw((sql) => callTool('query', { sql })), { signal })
  } catch (error) {
    // The error of the rollback has the thrown error as its cause.
    if (!AgentError.is(error, 'transaction-rolled-back') || !(error.cause instanceof EmptyMachine)) throw error
  }
}

class EmptyMachine extends Error {}

async function withdraw(query: Query): Promise<void> {
  await query(WITHDRAW)
  throw new EmptyMachine('The cash machine is empty.')
}
