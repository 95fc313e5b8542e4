import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generateTasks } from '@episodic/dataset'
import { connect, definePolicy, type Policy, runEpisode } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { bubblewrap } from '@episodic/workspace'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { digestOf } from './exercises.ts'
import { createPolyglot } from './polyglot-world.ts'

const at = (path: string) => fileURLToPath(new URL(`../../../sample/${path}`, import.meta.url))
const NAME = 'python/double-it'
const FILE = '/workspace/double-it/double_it.py'

// In the place of pytest, whose output it ends with: the tests of the whole set are run with the real one. Boxes run as
// users of their own, who may not be able to read this folder.
const kit = mkdtempSync(join(tmpdir(), 'episodic-kit-'))
chmodSync(kit, 0o755)
cpSync(at('kit'), kit, { recursive: true })
const machine = bubblewrap({ system: [kit] })
const published = { [NAME]: [digestOf(at('.'), NAME), 2] as [string, number] }
const { environment, tasks, solver, policies } = createPolyglot({ data: at('.'), kit, machine, published })

const host = createHost({ environments: [environment] })
afterAll(async () => {
  await host[Symbol.asyncDispose]()
  await machine.close()
  rmSync(kit, { recursive: true })
})

async function play(policy: Policy) {
  await using connection = await connect(inProcess(host))
  const [task] = generateTasks(tasks, { seed: 'test', count: 9 })
  return await runEpisode({ createEnvironment: () => connection.environment(), policy, task: task! })
}

/** Hands in one text after the other. */
function handing(...texts: readonly string[]): Policy {
  return definePolicy(environment, {
    name: 'handing',
    start() {
      const left = [...texts]
      let isWritten = false
      return () => {
        isWritten = !isWritten
        if (!isWritten) return { tool: 'submit', arguments: {} }
        return { tool: 'write_file', arguments: { path: FILE, content: left.shift() ?? '' } }
      }
    },
  })
}

describe.skipIf(!inject('programs').bwrap)('createPolyglot', () => {
  it("is solved by its author's solution at the first try, and not by what it begins with", async () => {
    expect([...generateTasks(tasks, { seed: 'test', count: 9 })]).toHaveLength(1)
    expect(await play(solver)).toMatchObject({ success: true, end: { reason: 'solved-first' } })
    const stub = await play(policies.stub)
    expect(stub).toMatchObject({ success: false, end: { reason: 'failed' } })
    expect(stub).toMatchObject({ steps: { length: 2 } })
  })

  it('shows what the tests printed after a first failure, and takes a second try', async () => {
    const wrong = 'def double(number):\n    return number + 3\n'
    const episode = await play(handing(wrong, 'def double(number):\n    return 2 * number\n'))
    expect(episode).toMatchObject({ success: true, end: { reason: 'solved-second' } })
    expect(JSON.stringify(episode)).toMatch(/AssertionError: 3 != 0[\s\S]*These tests are right, and fail/)
  })

  it.each([
    ['ends early', 'import os\nos._exit(0)\n'],
    ['skips tests', 'import unittest\n\ndef double(number):\n    raise unittest.SkipTest\n'],
    ['reads solutions', 'exec(open("/workspace/double-it/.meta/example.py").read())\n'],
  ])('pays nothing to who %s', async (_, text) => {
    expect(await play(handing(text, text))).toMatchObject({ success: false, end: { reason: 'failed' } })
  })
})
