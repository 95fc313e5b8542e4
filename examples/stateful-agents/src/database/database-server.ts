/**
 * `node database-server.ts`: a PostgreSQL database over MCP. The session is one connection, so that a transaction stays
 * open from call to call, and is rolled back when the session ends in the middle of it.
 *
 * Finds the database by the variables that every PostgreSQL client reads: `PGHOST`, `PGUSER`, `PGDATABASE` and so on.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { Client } from 'pg'
import { z } from 'zod'
import { runOverStdio } from '../run-over-stdio.ts'

/** The most rows in an answer. */
const ROWS = 100
/** Time limits in milliseconds: of a statement, and of an idle open transaction. */
const STATEMENT_LIMIT = 30_000
const IDLE_LIMIT = 600_000

const TRANSACTIONS = { I: 'none', T: 'open', E: 'failed' } as const

await using connection = await connect()
const server = new McpServer({ name: 'database', version: '1.0.0' })

server.registerTool(
  'query',
  {
    title: 'Run a statement',
    description:
      'Runs one SQL statement on this session’s connection. BEGIN opens a transaction that COMMIT or ROLLBACK ends, in later calls.',
    inputSchema: {
      sql: z.string().min(1).max(20_000).describe('One statement; $1, $2 … stand for the values'),
      values: z
        .array(z.union([z.string(), z.number(), z.boolean(), z.null()]))
        .max(100)
        .default([]),
    },
    outputSchema: {
      rows: z.array(z.record(z.string(), z.unknown())).describe(`At most ${ROWS}`),
      rowCount: z.int().describe('Rows that were found or changed'),
      transaction: z.enum(['none', 'open', 'failed']).describe('failed: only ROLLBACK helps'),
      notices: z.array(z.string()).describe('What PostgreSQL warned of'),
    },
    annotations: { destructiveHint: true, idempotentHint: false },
  },
  async ({ sql, values }) => {
    const answer = await connection.query(sql, values)
    return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: { ...answer } }
  },
)

await runOverStdio(server)

async function connect() {
  const client = new Client({
    statement_timeout: STATEMENT_LIMIT,
    idle_in_transaction_session_timeout: IDLE_LIMIT,
    application_name: 'stateful-agents',
  })
  let notices: string[] = []
  client.on('notice', ({ message }) => notices.push(message ?? ''))
  // The next query reports a lost connection; without a listener it would end this process.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    console.error(`The database server reaches no database: ${error}. PGHOST, PGUSER and PGDATABASE say which.`)
    process.exit(2)
  }
  return {
    async query(sql: string, values: readonly unknown[]) {
      notices = []
      // The extended protocol takes one statement, so none can follow after a semicolon.
      const statement = { text: sql, values: [...values], queryMode: 'extended' }
      const { command, rows, rowCount } = await client.query<Record<string, unknown>>(statement)
      // PostgreSQL answers a COMMIT of a failed transaction with ROLLBACK, without an error.
      if (command === 'ROLLBACK' && /^\s*(commit|end)\b/i.test(sql))
        throw new Error(
          'Nothing was committed: a statement of the transaction had failed, and all of it was rolled back.',
        )
      return {
        rows: rows.slice(0, ROWS),
        rowCount: rowCount ?? 0,
        transaction: TRANSACTIONS[client.getTransactionStatus() ?? 'I'],
        notices,
      }
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}
