import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { connect } from '../connect.fixture.ts'
import { type Postgres, startPostgres } from './postgres.ts'

const lacksPostgres = inject('programs').initdb === null
const SERVER = './database/database-server.ts'

describe.skipIf(lacksPostgres)('the database server (needs PostgreSQL: apt-get install postgresql)', () => {
  let postgres: Postgres
  beforeAll(async () => {
    postgres = await startPostgres(new AbortController().signal)
    await postgres.execute(
      "CREATE TABLE accounts (owner text PRIMARY KEY, balance int NOT NULL CHECK (balance >= 0)); INSERT INTO accounts VALUES ('ada', 100), ('bob', 0)",
    )
  })
  afterAll(() => postgres[Symbol.asyncDispose]())
  const open = () => connect(SERVER, [], { ...postgres.environment })
  const balance = "SELECT balance FROM accounts WHERE owner = 'ada'"

  it('keeps a transaction open between calls, invisible to other sessions', async () => {
    await using session = await open()
    await using other = await open()
    expect(await session.ask('query', { sql: 'BEGIN' })).toMatchObject({ transaction: 'open' })
    const update = { sql: 'UPDATE accounts SET balance = balance - $1 WHERE owner = $2', values: [40, 'ada'] }
    expect(await session.ask('query', update)).toMatchObject({ rowCount: 1, transaction: 'open' })
    expect(await session.ask('query', { sql: balance })).toMatchObject({ rows: [{ balance: 60 }] })
    expect(await other.ask('query', { sql: balance })).toMatchObject({ rows: [{ balance: 100 }], transaction: 'none' })
    expect(await session.ask('query', { sql: 'ROLLBACK' })).toMatchObject({ transaction: 'none' })
    expect(await session.ask('query', { sql: balance })).toMatchObject({ rows: [{ balance: 100 }] })
  })

  it('rolls back an open transaction when its session ends', async () => {
    {
      await using session = await open()
      await session.ask('query', { sql: 'BEGIN' })
      await session.ask('query', { sql: "UPDATE accounts SET balance = 1 WHERE owner = 'ada'" })
    }
    await using after = await open()
    expect(await after.ask('query', { sql: balance })).toMatchObject({ rows: [{ balance: 100 }] })
  })
})

describe.skipIf(lacksPostgres)('startPostgres (needs PostgreSQL: apt-get install postgresql)', () => {
  it('leaves no process and no file behind', async () => {
    const postgres = await startPostgres(new AbortController().signal)
    const folder = dirname(postgres.environment.PGHOST)
    expect(existsSync(folder)).toBe(true)
    await postgres[Symbol.asyncDispose]()
    expect(existsSync(folder)).toBe(false)
  })
})
