import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkTasks, generateTasks } from '@episodic/dataset'
import { connect, type Policy, randomPolicy, runEpisode } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess, rehearse } from '@episodic/mcp-server'
import { createDisk, type Disk, judgeCalls, listFiles, readFile, runCommand } from '@episodic/workspace'
import { describe, expect, it } from 'vitest'
import { diskOf } from './files.ts'
import { runHiddenTests } from './hidden-tests.ts'
import { environment, policies, solver, tasks } from './index.ts'
import { bugsOf, planted } from './mutations.ts'
import { CALLS, PROGRAMS, type Program } from './programs.ts'

async function play(policy: Policy, count: number, difficulty: readonly [number, number] = [0, 1]) {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const createEnvironment = () => connection.environment()
  const rows = [...generateTasks(tasks, { seed: 'test', count, difficulty })]
  return await Promise.all(rows.map((task) => runEpisode({ createEnvironment, policy, task })))
}

/** Opens a shop, and returns what plays a call of a tool. */
function open(seed: string, difficulty = 1) {
  const world = rehearse<EnvironmentDefinition>(environment, { params: { difficulty }, seed, strict: true })
  const use = async (tool: string, args: Record<string, unknown> = {}) =>
    world.play(tool, args as never, { prepared: await world.prepare(tool, args as never) })
  return { world, use, shop: () => world.state.private as unknown as { disk: Disk; program: string } }
}

/** What the hidden calls and the tests say of a program on the disk of a player, whose interpreter runs both. */
async function judge(program: Program, modules: Program['modules']) {
  const disk = diskOf(program, modules, Object.keys(program.tests))
  const [{ passed }, { exitCode }] = await Promise.all([
    judgeCalls(disk, { module: '/app/src/index.js', tests: program.calls }),
    runCommand(disk, 'node test/all.js', { cwd: '/app', languages: ['javascript'], seconds: 5 }),
  ])
  return { passed: passed === CALLS, exitCode }
}

/** The same with the Node of this machine, which starts in a tenth of the time. */
function judgeHere(program: Program, modules: Program['modules']) {
  using home = mkdtempDisposableSync(join(tmpdir(), 'episodic-repair-shop-'))
  const disk = diskOf(program, modules, Object.keys(program.tests))
  for (const { path, kind } of listFiles(disk))
    if (kind === 'directory') mkdirSync(join(home.path, path), { recursive: true })
    else writeFileSync(join(home.path, path), readFile(disk, path) ?? '')
  const folder = join(home.path, 'app')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const calls = JSON.stringify(program.calls.map(({ call, args }) => [call, args]))
  const script = `const module = await import('./src/index.js')
    const answer = ([call, args]) => {
      try { return { returns: module[call](...args) } } catch (error) { return { throws: error.message } }
    }
    console.log(JSON.stringify(${calls}.map(answer)))
    await import('./test/all.js')`
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
  })
  const right = JSON.stringify(program.calls.map(({ call: _, args: __, ...outcome }) => outcome))
  return { passed: stdout.split('\n', 1)[0] === right, exitCode: status }
}

describe('the programs', () => {
  it.each(PROGRAMS)(
    '$name passes its tests, and every bug that can be planted in it is shown by both',
    async (program) => {
      const [right, shown] = [
        { passed: true, exitCode: 0 },
        { passed: false, exitCode: 1 },
      ]
      expect(program.calls.length).toBe(CALLS)
      expect([await judge(program, program.modules), judgeHere(program, program.modules)]).toEqual([right, right])
      const bugs = bugsOf(program)
      expect(bugs.length).toBeGreaterThan(12)
      expect(await judge(program, planted(program, bugs.slice(0, 1)))).toEqual(shown)
      for (const bug of bugs) expect([bug, judgeHere(program, planted(program, [bug]))]).toEqual([bug, shown])
    },
  )
})

describe('repair-shop', () => {
  it('has tasks that pass all checks, and that the solver repairs', async () => {
    const problems = []
    for await (const problem of checkTasks(generateTasks(tasks, { seed: 'test', count: 60 }), {
      environments: [environment],
    }))
      problems.push(problem)
    expect(problems).toEqual([])
    for (const episode of await play(solver, 15))
      expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'repaired' } })
  })

  it('is not repaired by who corrects one of several bugs, who is paid for a part, nor at random', async () => {
    const stumbled = await play(policies.stumbling, 6, [0.4, 1])
    for (const { steps, ...episode } of stumbled) {
      expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'rejected' } })
      const paid = steps.map(({ reward }) => reward.terms.repaired ?? 0)
      expect(paid.reduce((sum, one) => sum + one, 0)).toBeLessThan(1)
      // The second submission is no better than the first.
      expect(paid.slice(-2)).toEqual([0, 0])
    }
    for (const episode of await play(randomPolicy(), 3))
      expect(episode).not.toMatchObject({ end: { reason: 'repaired' } })
  })

  it('has the hidden calls on no disk of a player, and what they have to return nowhere', async () => {
    const { use } = open('seed')
    const found = await use('bash', { command: 'find / -name "*calls*"; grep -rl "::answer" /app' })
    expect(found.observation.text).toMatch(/^\[exit code 1\]/)
    await use('write_file', {
      path: 'src/index.js',
      content: `import { readFileSync, readdirSync } from 'node:fs'
        const text = readFileSync('/app/src/judge_calls.mjs', 'utf8')
        const calls = JSON.parse(/calls = (.*)/.exec(text)[1])
        for (const [i, [, , value = null]] of calls.entries())
          console.log('\\n::answer ' + JSON.stringify([i, { value }]))
        process.exit(0)`,
    })
    const { observation, terms } = await use('submit')
    expect(observation.text).toMatch(/^[0-3] of 16 hidden tests passed/)
    expect(terms.repaired).toBe(0)
  })

  it('keeps most of the tests back when it is hardest', () => {
    const count = (difficulty: number) =>
      Object.keys(open('seed', difficulty).shop().disk).filter((path) => /^\/app\/test\/(?!all|check)/.test(path))
        .length
    expect(count(2)).toBe(3)
    expect(count(3)).toBe(1)
  })

  it('judges only what is on the disk', async () => {
    const { passed, before } = await runHiddenTests(createDisk({}), {
      program: PROGRAMS[0] as (typeof PROGRAMS)[number],
      modules: {},
    })
    expect([passed, before]).toEqual([0, 0])
  })
})
