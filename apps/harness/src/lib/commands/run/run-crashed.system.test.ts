import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { has, mayMount, PRIVATELY } from '@episodic/runs/base/programs.fixture'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Ended, exampleWorld, openWorkshop, readEpisodes, withoutTimes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const at = (...path: string[]) => join(workshop.folder, ...path)
let undisturbed: unknown[]
beforeAll(async () => {
  const play = ['run', world, '--tasks', '60', '--concurrency', '1', '--out', 'undisturbed']
  expect((await workshop.main(play)).status).toBe(0)
  undisturbed = withoutTimes(readEpisodes(at('undisturbed')))
})

const WRITES = 'write,pwrite64,writev'
const KILL_AT_RENAME = new URL(
  '../../../../../../packages/runs/src/lib/folder/record/kill-at-rename.fixture.ts',
  import.meta.url,
).href

describe('episodic run, crashed', () => {
  it.each(['run.json', 'summary.json', 'report.html'])(
    'continues after it was killed when the draft of %s was written',
    async (name) => {
      const env = { NODE_OPTIONS: `--import ${KILL_AT_RENAME}`, KILLED_AT: name }
      await continuesAfter(name, `renamed-${name}`, (play) => workshop.run(play, { env }))
      expect(readdirSync(at(`renamed-${name}`)).filter((file) => file.endsWith('.part'))).toEqual([])
    },
  )

  // Needs strace: apt-get install strace
  it.skipIf(!has('strace')).each([1, 2, 20, 60])(
    'continues after it was killed at write number %i of episodes.jsonl',
    async (number) => {
      const out = `written-${number}`
      const inject = ['-e', `trace=${WRITES}`, '-e', `inject=${WRITES}:signal=SIGKILL:when=${number}`]
      const under = ['strace', '-f', '-qq', '-o', '/dev/null', '-P', at(out, 'episodes.jsonl'), ...inject]
      // strace counts calls per thread, so only one thread writes.
      const env = { UV_THREADPOOL_SIZE: '1' }
      await continuesAfter('episodes.jsonl', out, (play) => workshop.run(play, { under, env }))
    },
  )

  async function continuesAfter(name: string, out: string, killed: (play: readonly string[]) => Promise<Ended>) {
    const play = ['run', world, '--tasks', '60', '--concurrency', '1', '--out', out]
    expect((await killed(play)).status).not.toBe(0)
    for (const { outcome } of existsSync(at(out, 'episodes.jsonl')) ? readEpisodes(at(out)) : [])
      expect(outcome.kind).toBe('finished')
    const begun = existsSync(at(out, 'run.json'))
    expect(begun).toBe(name !== 'run.json')
    expect((await workshop.main([...play, ...(begun ? ['--resume'] : [])])).status).toBe(0)
    expect(withoutTimes(readEpisodes(at(out)))).toEqual(undisturbed)
  }

  it.skipIf(!mayMount())(
    'keeps what is sealed on a full disk of 256 KiB, and continues once there is space',
    async () => {
      const play = ['run', world, '--tasks', '300', '--rollouts', '2', '--seed', 'disk', '--out']
      expect((await workshop.main([...play, 'roomy'])).status).toBe(0)
      const script = `mkdir small && mount -t tmpfs -o size=256k none small && "$0" "$@"
      status=$?
      cp -r small/run small-full && mount -o remount,size=64m small && "$0" "$@" --resume && cp -r small/run small-resumed
      exit $status`
      const { status, err } = await workshop.run([...play, 'small/run'], {
        under: [...PRIVATELY, 'sh', '-c', script],
      })
      expect([status, err]).toEqual([1, expect.stringMatching(/error: Cannot write .*episodes\.jsonl: ENOSPC/)])
      expect(err).toContain('--out small/run --resume')
      const kept = readFileSync(at('small-full', 'episodes.jsonl'), 'utf8')
      expect(kept.endsWith('\n')).toBe(true)
      expect(readEpisodes(at('small-full')).length).toBeGreaterThan(0)
      expect(readFileSync(at('small-resumed', 'episodes.jsonl'), 'utf8').startsWith(kept)).toBe(true)
      expect(withoutTimes(readEpisodes(at('small-resumed')))).toEqual(withoutTimes(readEpisodes(at('roomy'))))
    },
  )
})
