import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, withoutTimes } from '../episodic.fixture.ts'
import { has, mayMount, PRIVATELY } from '../programs.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const at = (...path: string[]) => join(workshop.folder, ...path)
let undisturbed: unknown[]
beforeAll(async () => {
  const play = ['run', world, '--tasks', '60', '--concurrency', '1', '--out', 'undisturbed']
  expect((await workshop.run(play)).status).toBe(0)
  undisturbed = withoutTimes(readEpisodes(at('undisturbed')))
})

/** The system calls of each kind. strace counts each of them on its own. */
const CALLS = { write: 'write,pwrite64,writev', rename: 'rename,renameat,renameat2' }

describe('episodic run, crashed', () => {
  // Needs strace: apt-get install strace
  it.skipIf(!has('strace')).each([
    // Before, its draft was written, under a name that nobody knows.
    ...['run.json', 'summary.json', 'report.html'].map((name) => ({ name, kind: 'rename' as const, number: 1 })),
    ...[1, 2, 20, 60].map((number) => ({ name: 'episodes.jsonl', kind: 'write' as const, number })),
  ])('continues after it was killed at $kind number $number of $name', async ({ name, kind, number }) => {
    const out = `${name}-${kind}-${number}`
    const files = ['-P', at(out, name)]
    const calls = CALLS[kind]
    const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:signal=SIGKILL:when=${number}`]
    const under = ['strace', '-f', '-qq', '-o', '/dev/null', ...files, ...inject]
    const play = ['run', world, '--tasks', '60', '--concurrency', '1', '--out', out]
    // strace counts calls per thread, so only one thread writes.
    const killed = await workshop.run(play, { under, env: { UV_THREADPOOL_SIZE: '1' } })
    expect(killed.status).not.toBe(0)
    for (const { outcome } of existsSync(at(out, 'episodes.jsonl')) ? readEpisodes(at(out)) : [])
      expect(outcome.kind).toBe('finished')
    const begun = existsSync(at(out, 'run.json'))
    expect(begun).toBe(name !== 'run.json')
    expect((await workshop.run([...play, ...(begun ? ['--resume'] : [])])).status).toBe(0)
    expect(withoutTimes(readEpisodes(at(out)))).toEqual(undisturbed)
  })

  it.skipIf(!mayMount())(
    'keeps what is sealed on a full disk of 256 KiB, and continues once there is space',
    async () => {
      const play = ['run', world, '--tasks', '300', '--rollouts', '2', '--seed', 'disk', '--out']
      expect((await workshop.run([...play, 'roomy'])).status).toBe(0)
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
