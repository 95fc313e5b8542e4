import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createManualClock } from '@episodic/state'
import { openSqliteStore } from '@episodic/state/sqlite'
import { resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { atControl } from '../fixtures/addressed.fixture.ts'
import { createExchange, createMarket } from '../fixtures/market.fixture.ts'
import { connectTaskClient } from '../fixtures/task-client.fixture.ts'
import { serve } from '../fixtures/testbed.fixture.ts'
import { createHost } from '../host/create-host.ts'

const FIXTURE = fileURLToPath(new URL('../fixtures/task-process.fixture.ts', import.meta.url))

/** Starts a server of a market in a process of its own. Its session lives on in a server that is started later. */
async function startMarket() {
  const folder = await mkdtemp(join(tmpdir(), 'episodic-tasks-'))
  const [path, orders] = [join(folder, 'store.db'), join(folder, 'orders')]
  const child = spawn(process.execPath, [FIXTURE, path, orders], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value as string)
  onTestFinished(async () => {
    await kill(child)
    await rm(folder, { recursive: true, force: true })
  })
  const { url, session } = (await next()) as { url: string; session: string }
  return {
    url,
    /** Resolves when the exchange is asked. */
    asked: next,
    answer: (fee: number) => child.stdin.write(`${fee}\n`),
    orders: () => readFile(orders, 'utf8'),
    /** Kills the process, and serves its sessions from another one, in which the time can be moved. */
    async restart() {
      await kill(child)
      expect(child.signalCode).toBe('SIGKILL')
      const store = await openSqliteStore(path)
      const clock = createManualClock(Date.now())
      const exchange = createExchange()
      const host = createHost({ environments: [createMarket(exchange)], store, clock })
      onTestFinished(async () => {
        await host[Symbol.asyncDispose]()
        await store[Symbol.asyncDispose]()
      })
      const server = await serve(host)
      const state = () => atControl(host, session).state()
      return { url: server.sessionUrl(url.split('/').at(-1) as string), state, exchange, clock }
    },
  }
}

/** Calls a tool with the official client, and resolves with what is kept of its task to ask for it again. */
async function leaveTask(url: string, tool: string) {
  const session = await connectTaskClient(url)
  const execution = await session.callTool(tool, { shares: 3 })
  if (execution.kind !== 'task') throw new Error('The call was answered at once.')
  const reference = execution.serializeReference()
  await execution.detach()
  return reference
}

describe('a task of a server that is killed with -9, over SQLite', () => {
  it('has its answer if the step was committed, and plays nothing again', async () => {
    const market = await startMarket()
    const reference = await leaveTask(market.url, 'order')
    await market.asked()
    market.answer(2)
    const before = await connectTaskClient(market.url)
    const known = resultFromTaskOutcome((await (await before.resumeTask(reference)).settle()).outcome)
    expect(known).toMatchObject({ content: [{ text: expect.stringContaining('for a fee of 2.') }] })
    const { url, state, exchange } = await market.restart()
    const { revision } = await state()
    const after = await connectTaskClient(url)
    expect(resultFromTaskOutcome((await (await after.resumeTask(reference)).settle()).outcome)).toEqual(known)
    expect(await state()).toMatchObject({ revision, state: { public: { shares: 3 } } })
    expect({ orders: await market.orders(), again: exchange.orders }).toEqual({ orders: '3\n', again: 0 })
  })

  it('was not played if the server died while it was prepared, and says so when it can no longer be', async () => {
    const market = await startMarket()
    const reference = await leaveTask(market.url, 'quote')
    await market.asked()
    const { url, state, clock } = await market.restart()
    const session = await connectTaskClient(url)
    expect(await session.task(reference.taskId).snapshot()).toMatchObject({ status: 'working' })
    // The five seconds of its preparation, and those of a commit.
    clock.advance(15_000)
    expect((await (await session.resumeTask(reference)).settle()).outcome).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining('was not played') }] },
    })
    expect((await state()).revision).toBe(0)
    const again = await session.callTool('quote', { shares: 3 })
    expect((await again.settle()).outcome).toMatchObject({
      result: { content: [{ text: expect.stringContaining('The fee is 1.') }] },
    })
    expect((await state()).revision).toBe(1)
  })

  it('does nothing outside a second time, and says that its outcome cannot be known', async () => {
    const market = await startMarket()
    const reference = await leaveTask(market.url, 'order')
    await market.asked()
    const { url, clock, exchange, state } = await market.restart()
    const session = await connectTaskClient(url)
    clock.advance(15_000)
    expect((await (await session.resumeTask(reference)).settle()).outcome).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining('cannot be known') }] },
    })
    expect((await state()).state.public).toMatchObject({ shares: 0 })
    expect({ orders: await market.orders(), again: exchange.orders }).toEqual({ orders: '3\n', again: 0 })
  })
})

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
