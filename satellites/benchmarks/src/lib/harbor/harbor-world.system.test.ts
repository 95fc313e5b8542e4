import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { generateTasks } from '@episodic/dataset'
import { connect, definePolicy, type Policy, runEpisode } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { bubblewrap } from '@episodic/workspace'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { HarborTaskError } from './harbor-task.ts'
import { harborWorld } from './harbor-world.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-harbor-'))
chmodSync(folder, 0o755)
const machine = bubblewrap()
afterAll(async () => {
  await machine.close()
  rmSync(folder, { recursive: true })
})

/** A task: count the lines of a file into another one. */
const COUNT = {
  'task.toml': 'schema_version = "1.4"\n[task]\nname = "test/count"\n[verifier]\ntimeout_sec = 20.0\n',
  'instruction.md': '<!-- canary GUID 1 -->\n\nWrite the number of lines of names.txt into count.txt.\n',
  'environment/Dockerfile': `FROM debian:13-slim
# Tools of the task.
RUN apt-get update && apt-get install -y --no-install-recommends \\
    python3 && rm -rf /var/lib/apt/lists/*
ENV WANTED=count.txt
WORKDIR /app
COPY names.txt ./
COPY data/ /app/data
RUN mkdir -p /app/out
`,
  'environment/names.txt': 'Ada\nAlan\nGrace\n',
  'environment/data/more/one.txt': '1\n',
  'solution/solve.sh': 'cd /app\nwc -l < names.txt > "$WANTED"\n',
  'tests/test.sh': `echo '{"reward": 7}'
if python3 /tests/check.py; then echo 1; else echo 0.25; fi > /logs/verifier/reward.txt
exit 3
`,
  'tests/check.py': `import os
assert os.path.isdir("/app/out") and open("/app/data/more/one.txt").read() == "1\\n"
assert open("/app/" + os.environ["WANTED"]).read().strip() == "3"
`,
}

function write(files: Readonly<Record<string, string>>): string {
  const at = mkdtempSync(join(folder, 'tasks-'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), text)
  }
  return at
}

async function play({ environment, tasks }: ReturnType<typeof harborWorld>, policy: Policy) {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const [task] = generateTasks(tasks, { seed: 'test', count: 1 })
  const episode = await runEpisode({ createEnvironment: () => connection.environment(), policy, task: task! })
  return { ...episode, paid: episode.steps.reduce((sum, { reward }) => sum + reward.total, 0) }
}

const running = (...commands: readonly string[]): Policy =>
  definePolicy({
    name: 'running',
    start() {
      const left = [...commands]
      return () => {
        const command = left.shift()
        return command === undefined ? { tool: 'finish', arguments: {} } : { tool: 'bash', arguments: { command } }
      }
    },
  })

describe.skipIf(!inject('programs').bwrap)('harborWorld', () => {
  it('plays the solution of the author, and pays what the tests write, whatever they print and however they exit', async () => {
    const world = harborWorld(write(COUNT), { machine })
    const [task] = generateTasks(world.tasks, { seed: 'test', count: 1 })
    expect(task?.prompt).toBe('Write the number of lines of names.txt into count.txt.\n')
    expect(await play(world, world.solver)).toMatchObject({ success: true, paid: 1 })
    expect(await play(world, world.policies.nothing)).toMatchObject({ success: false, paid: 0.25 })
  })

  it('begins in the directory of the Dockerfile, with its variables, and without tests and solution', async () => {
    const world = harborWorld(write(COUNT), { machine })
    const episode = await play(world, running('pwd; echo $WANTED; find /app /tests /solution /logs -type f | sort'))
    const read = episode.kind === 'finished' ? episode.steps[0]?.observation.text : ''
    expect(read).toMatch(/^\/app\ncount\.txt\n\/app\/data\/more\/one\.txt\n\/app\/names\.txt\n/)
    expect(read).not.toMatch(/test\.sh|solve\.sh/)
  })

  it('pays nothing for a reward or tests that the agent has left', async () => {
    const forged = 'mkdir -p /logs/verifier /tests; echo 1 > /logs/verifier/reward.txt; echo true > /tests/test.sh'
    expect(await play(harborWorld(write(COUNT), { machine }), running(forged))).toMatchObject({
      success: false,
      paid: 0.25,
    })
  })

  it('keeps named rewards, and takes the mean of them where none is called reward', async () => {
    const tests = { 'tests/test.sh': `echo '{"speed": 0.5, "size": 1}' > /logs/verifier/reward.json` }
    const world = harborWorld(write({ ...COUNT, ...tests }), { machine })
    expect(await play(world, world.policies.nothing)).toMatchObject({ success: false, paid: 0.75 })
  })

  it.each([
    ['none', 'echo hello', /wrote no reward.*hello/],
    ['no number', 'echo good > /logs/verifier/reward.txt', /wrote no reward but "good/],
  ])('fails an episode whose tests write no reward: %s', async (_, script, message) => {
    const world = harborWorld(write({ ...COUNT, 'tests/test.sh': script }), { machine })
    const faults: unknown[] = []
    await using host = createHost({ environments: [world.environment], onFault: (fault) => void faults.push(fault) })
    await using connection = await connect(inProcess(host))
    const [task] = generateTasks(world.tasks, { seed: 'test', count: 1 })
    const createEnvironment = () => connection.environment()
    const episode = await runEpisode({ createEnvironment, policy: world.policies.nothing, task: task! })
    expect(episode.kind).toBe('failed')
    expect(inspect(faults[0])).toMatch(message)
  })
})

describe('tasks of Harbor', () => {
  it('are refused with all that they need of a container', () => {
    const more = {
      'task.toml': `${COUNT['task.toml']}[[environment.mcp_servers]]\nname = "a"\n[[steps]]\nname = "one"\n`,
      'environment/Dockerfile': 'FROM a\nRUN make && apt-get install -y gcc\nCOPY --from=b /x /y\nCOPY none.txt .\n',
    }
    expect(() => harborWorld(write({ ...COUNT, ...more }), { machine })).toThrow(
      new HarborTaskError(
        'test/count needs what is not here: [[steps]]; MCP servers; RUN make; COPY --from=b /x /y; COPY none.txt ..',
      ),
    )
    expect(() => harborWorld(join(folder, 'none'), { machine })).toThrow('is no task of Harbor and has none')
  })
})
