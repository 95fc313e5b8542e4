import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Action } from '@episodic/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const WORLD = exampleWorld('number-guessing')
const fileOf = (...names: string[]) => join(workshop.folder, ...names)
const textOf = (...names: string[]) => readFileSync(fileOf(...names), 'utf8')
const harbor = (reference: string, ...more: string[]) =>
  workshop.main(['export', reference, '--format', 'harbor', ...more])

/** The return that a task says its solution has. */
const claimed = (...task: string[]) => Number(/^solution_return = (.*)$/m.exec(textOf(...task, 'task.toml'))?.[1])

/** Serves a task as Harbor's sidecar does, plays its solution, and resolves with the return. */
async function playSolution(...task: string[]): Promise<number> {
  const server = await workshop.serve([WORLD, '--task', fileOf(...task, 'environment', 'task.jsonl')])
  const calls: Action[] = JSON.parse(textOf(...task, 'solution', 'calls.json'))
  for (const { tool, arguments: args } of calls) {
    const params = { name: tool, arguments: args }
    await fetch(server.agentUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    })
  }
  const { port } = new URL(server.url)
  const { out } = await workshop.main(['sessions', 'close', '--port', port, '--json'])
  server.kill('SIGTERM')
  await server.ended
  return JSON.parse(out).return
}

describe('episodic export --format harbor', () => {
  it('writes the tasks of a world, with what its solver does', async () => {
    const { status, out } = await harbor(WORLD, '--tasks', '3', '--out', 'tasks', '--json')
    expect([status, JSON.parse(out)]).toEqual([0, { tasks: 3, solutions: 3 }])
    const names = readdirSync(fileOf('tasks'))
    expect(names).toHaveLength(3)
    const [name] = names as [string]
    const task = JSON.parse(textOf('tasks', name, 'environment', 'task.jsonl'))
    expect(name).toBe(`number-guessing-${task.id.slice(0, 12)}`)
    const instruction = textOf('tasks', name, 'instruction.md')
    expect(instruction).toContain(task.prompt)
    expect(instruction).not.toContain(task.seed)
    for (const script of ['tests/test.sh', 'solution/solve.sh'])
      expect(statSync(fileOf('tasks', name, script)).mode & 0o111).not.toBe(0)
    expect(await playSolution('tasks', name)).toBe(claimed('tasks', name))
  })

  it('says what it cannot export', async () => {
    await workshop.main(['run', WORLD, '--tasks', '1', '--out', 'runs/one'])
    for (const [reference, args, problem] of [
      [WORLD, ['--out', 'tasks'], 'is not empty'],
      [WORLD, [], 'give a new one as --out'],
      [WORLD, ['--out', 'x', '--reward', 'total'], '--reward is for episodes'],
      ['runs/one', ['--out', 'x'], 'runs/one is a run: give a world'],
      ['runs/none', ['--out', 'x'], 'There is no world'],
      ['kuhn-poker', ['--out', 'x'], 'has several seats'],
    ] as const) {
      const { status, err } = await harbor(reference, ...args)
      expect([status === 0, err]).toEqual([false, expect.stringContaining(problem)])
    }
    const { err } = await workshop.main(['export', 'runs/none', '--format', 'csv', '--tasks', '2'])
    expect(err).toContain('--tasks is for --format harbor')
  })
})
