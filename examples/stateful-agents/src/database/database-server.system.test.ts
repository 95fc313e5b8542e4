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

  it("passes PostgreSQL's errors, warnings and failed transactions on", async () => {
    await using session = await open()
    expect(await session.fail('query', { sql: 'SELECT nothing' })).toContain('column "nothing" does not exist')
    expect(await session.fail('query', { sql: 'SELECT 1; DROP TABLE accounts' })).toContain('multiple commands')
    await session.ask('query', { sql: 'BEGIN' })
    expect(await session.fail('query', { sql: 'UPDATE accounts SET balance = -1' })).toContain('check constraint')
    expect(await session.fail('query', { sql: balance })).toContain('current transaction is aborted')
    expect(await session.ask('query', { sql: 'ROLLBACK' })).toMatchObject({ transaction: 'none' })
    expect(await session.ask('query', { sql: 'ROLLBACK' })).toMatchObject({
      notices: ['there is no transaction in progress'],
    })
  })

  it('reports a COMMIT of a failed transaction', async () => {
    await using session = await open()
    await session.ask('query', { sql: 'BEGIN' })
    await session.fail('query', { sql: 'UPDATE accounts SET balance = -1' })
    expect(await session.fail('query', { sql: 'COMMIT' })).toMatch(/^Nothing was committed/)
    expect(await session.ask('query', { sql: balance })).toMatchObject({
      rows: [{ balance: 100 }],
      transaction: 'none',
    })
  })

  it('returns a bounded number of rows', async () => {
    await using session = await open()
    const { rows, rowCount } = await session.ask('query', { sql: 'SELECT generate_series(1, 1000) AS n' })
    expect([(rows as unknown[]).length, rowCount]).toEqual([100, 1000])
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

  it('can be aborted', async () => {
    await expect(startPostgres(AbortSignal.abort())).rejects.toThrow(/abort/)
  })
})
