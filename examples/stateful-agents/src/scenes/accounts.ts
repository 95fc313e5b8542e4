import type { ToolAnswer } from '@episodic/agent'
import { type Postgres, startPostgres } from '../database/postgres.ts'
import { ownServer } from './own-server.ts'

/** What ada has at the start. */
const OPENING_BALANCE = 100

/** Statements on a database with one account. */
export const WITHDRAW = "UPDATE accounts SET balance = balance - 40 WHERE owner = 'ada'"
export const BALANCE = "SELECT balance FROM accounts WHERE owner = 'ada'"

/** A database of its own, with the account of ada, and the server that leads to it. */
export interface Accounts extends AsyncDisposable {
  readonly server: ReturnType<typeof ownServer>
}

export async function openAccounts(signal: AbortSignal): Promise<Accounts> {
  const postgres: Postgres = await startPostgres(signal)
  await postgres.execute(
    `CREATE TABLE accounts (owner text PRIMARY KEY, balance int NOT NULL); INSERT INTO accounts VALUES ('ada', ${OPENING_BALANCE})`,
  )
  return {
    server: ownServer(import.meta.resolve('../database/database-server.ts'), [], postgres.environment),
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  }
}

/** Reads a balance in what the database answered, if there is one. */
export function balanceOf({ structured }: ToolAnswer): number | undefined {
  return (structured as { rows?: { balance?: number }[] } | null)?.rows?.[0]?.balance
}
