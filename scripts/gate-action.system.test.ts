import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { root } from './workspace.ts'

/** A step of a workflow or of a composite action. */
interface Step {
  readonly run?: string
  readonly uses?: string
  readonly shell?: string
  readonly env?: Readonly<Record<string, string>>
  readonly with?: Readonly<Record<string, string>>
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string; readonly required?: boolean }>>
  readonly outputs: Readonly<Record<string, { readonly value: string }>>
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}

const ACTION = '.github/actions/gate'
const action: Action = parse(readFileSync(join(root, ACTION, 'action.yml'), 'utf8'))
const page = readFileSync(join(root, 'docs/judge/gate.md'), 'utf8')
const workflow = parse(/```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '')
const steps: readonly Step[] = workflow.jobs.gate.steps

const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
const CLI = join(root, 'apps/harness/src/cli.ts')

/** A step that has ended: what it wrote, and to the files of the runner. */
interface EndedStep {
  readonly status: number
  readonly log: string
  readonly outputs: string
  readonly summary: string
}

/** Runs a script as the runner does a step with `shell: bash`. `npx` finds the command of this repository. */
async function runStep(script: string, env: Readonly<Record<string, string>> = {}): Promise<EndedStep> {
  const files = mkdtempSync(join(folder, 'step-'))
  const [file, outputs, summary] = ['script.sh', 'output', 'summary'].map((name) => join(files, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(file, script)
  for (const path of [outputs, summary]) writeFileSync(path, '')
  const runner = { GITHUB_ACTIONS: 'true', GITHUB_OUTPUT: outputs, GITHUB_STEP_SUMMARY: summary }
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', file], {
    cwd: folder,
    env: {
      ...process.env,
      NO_COLOR: '1',
      EPISODIC_HOME: join(folder, 'home'),
      ...runner,
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (log += text))
  const [status] = await once(child, 'close')
  return { status, log, outputs: readFileSync(outputs, 'utf8'), summary: readFileSync(summary, 'utf8') }
}

/** Runs the step of the action with inputs, as a workflow gives them. */
async function runAction(given: Readonly<Record<string, string>>): Promise<EndedStep> {
  for (const name of Object.keys(given)) expect(action.inputs).toHaveProperty(name)
  const inputs = Object.fromEntries(
    Object.entries(action.inputs).map(([name, input]) => [name, given[name] ?? input.default ?? '']),
  )
  const [step, ...more] = action.runs.steps
  expect([action.runs.using, step?.shell, more]).toEqual(['composite', 'bash', []])
  const env = Object.fromEntries(
    Object.entries(step?.env ?? {}).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, input: string) => inputs[input] as string),
    ]),
  )
  // Text of an input in a script would be a command.
  expect(step?.run).not.toContain('${{')
  return runStep(step?.run ?? '', env)
}

beforeAll(async () => {
  mkdirSync(join(folder, 'bin'))
  const npx = join(folder, 'bin', 'npx')
  writeFileSync(npx, `#!/bin/bash\n[ "$1" = episodic ] || exit 99\nshift\nexec "${process.execPath}" "${CLI}" "$@"\n`)
  chmodSync(npx, 0o755)
  writeFileSync(join(folder, 'my-world.ts'), `export * from '${join(root, 'examples/number-guessing/src/index.ts')}'\n`)
  const main = await runStep(`npx episodic run my-world.ts --policy solver --tasks 200 --out runs/main
npx episodic gate runs/main --write-baseline main`)
  expect([main.log, main.status]).toEqual([expect.stringContaining('baselines/main.json'), 0])
})

describe('the action of a gate', () => {
  it('has an input for each condition and file of the command, and hands each on', async () => {
    const { log } = await runStep('npx episodic gate --help')
    const options = [...log.matchAll(/^ {2}--([\w-]+) </gm)].map(([, name]) => name as string)
    const given = new Set(Object.keys(action.inputs))
    expect(options.filter((name) => !given.has(name))).toEqual(['write-baseline', 'seat'])
    expect([...given].filter((name) => !options.includes(name)).sort()).toEqual(['command', 'run'])
  })

  it('hands on each condition on grades', async () => {
    const { status, log } = await runAction({ command: 'echo', run: 'main', grade: 'polite>=80%\nkind>=3\n' })
    expect([status, log]).toEqual([0, expect.stringContaining('--grade=polite>=80% --grade=kind>=3')])
  })

  it('passes in the workflow of the page, whose steps run here', async () => {
    const own = steps.filter(({ run, uses }) => (run !== undefined && run !== 'npm ci') || uses?.includes(ACTION))
    expect(own).toHaveLength(2)
    const [play, gate] = own
    const played = await runStep(play?.run ?? '')
    expect(played.status).toBe(0)
    const { status, log, outputs, summary } = await runAction(gate?.with ?? {})
    expect([status, outputs]).toEqual([0, 'passed=true\n'])
    expect(log).toContain('Passed: every condition is met')
    expect(log).not.toContain('::error')
    expect(summary).toMatch(/^## ✅ Passed[\s\S]*^ {4} +not worse than main /m)
    expect(readFileSync(join(folder, 'gate.xml'), 'utf8')).toContain('<testsuites name="episodic gate"')
  })

  it('says no with status 3, an annotation and the summary, and fails of an error without an output', async () => {
    const worse = await runStep('npx episodic run my-world.ts --policy careless --tasks 200 --out runs/worse')
    expect(worse.status).toBe(0)
    const { status, log, outputs, summary } = await runAction({
      run: 'runs/worse',
      'not-worse': 'main',
      margin: '3points',
      success: '>=80%',
    })
    expect([status, outputs]).toEqual([3, 'passed=false\n'])
    expect(log).toMatch(/^::error title=episodic gate::Not passed: 1 condition missed/m)
    expect(summary).toMatch(/^## ❌ Not passed: 1 condition/)
    const error = await runAction({ run: 'runs/none', success: '>=80%' })
    expect([error.status, error.outputs]).toEqual([1, ''])
    const usage = await runAction({ run: 'runs/worse', success: '$(touch evil) >= 2' })
    expect([usage.status, usage.outputs]).toEqual([2, ''])
    expect(() => readFileSync(join(folder, 'evil'))).toThrow()
  })
})
