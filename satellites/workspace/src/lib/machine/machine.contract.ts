import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDisk } from '../disk/create-disk.ts'
import type { Disk } from '../disk/disk.ts'
import { applyChanges } from '../disk/disk-changes.ts'
import { MACHINE_BOUNDS, type Machine, type MachineBounds, type MachineCommand, type MachineResult } from './machine.ts'

const DISK = createDisk({
  '/app/notes.txt': 'one\n',
  '/app/run.sh': { content: '#!/bin/sh\necho run "$@"\n', mode: 0o755 },
  '/app/ä b/ü.bin': new Uint8Array([0, 255, 128, 10]),
  '/app/secret/answer': '42',
  '/app/tests/a.sh': 'exit 1\n',
  '/app/link': { link: 'notes.txt' },
  '/etc/of-the-disk': '',
})

interface ContractCommand extends Partial<Omit<MachineCommand, 'argv' | 'bounds'>> {
  readonly bounds?: Partial<MachineBounds>
  readonly signal?: AbortSignal
}

interface Played extends MachineResult {
  readonly out: string
  readonly after: Disk
}

/**
 * Registers the suite that every driver of {@link Machine} passes: a test for each sentence of its contract. A machine
 * has to have `sh` and the programs of coreutils.
 */
export function describeMachine(name: string, open: () => Machine | Promise<Machine>): void {
  describe(`Machine contract: ${name}`, { timeout: 120_000 }, () => {
    let machine: Machine
    beforeAll(async () => {
      machine = await open()
    })
    afterAll(() => machine.close())

    async function play(script: string, { bounds, signal, ...given }: ContractCommand = {}): Promise<Played> {
      const command: MachineCommand = {
        session: 'session',
        argv: ['sh', '-c', script],
        cwd: '/app',
        variables: {},
        disk: DISK,
        folders: ['/app', '/tmp'],
        hidden: ['/app/secret'],
        readOnly: ['/app/tests'],
        stdin: new Uint8Array(),
        network: false,
        bounds: { ...MACHINE_BOUNDS, seconds: 60, ...bounds },
        ...given,
      }
      const result = await machine.run(command, signal ?? new AbortController().signal)
      const after = structuredClone(command.disk) as Disk
      applyChanges(after, result.changes)
      return { ...result, after, out: new TextDecoder().decode(result.stdout) }
    }

    it('runs a program in a directory of the files, with its arguments, variables and standard input', async () => {
      const argv = ['./run.sh', 'a b', '$X']
      expect(await machineRun(argv)).toMatchObject({ out: 'run a b $X\n', exitCode: 0, changes: [], ended: null })
      const script = 'pwd; echo "$X,$LANG,$TZ" > /dev/stdout; cat /dev/stdin; printf "\\377" > /dev/stderr; exit 3'
      const played = await play(script, { variables: { X: 'ü 1' }, stdin: new TextEncoder().encode('in') })
      expect(played).toMatchObject({ out: '/app\nü 1,C.UTF-8,UTC\nin', exitCode: 3, grown: 0 })
      expect([...played.stderr]).toEqual([255])
      expect((await play('kill -9 $$')).exitCode).toBe(137)
    })

    async function machineRun(argv: readonly string[]): Promise<Played> {
      return play('', { argv } as ContractCommand)
    }

    it('passes on nothing of its own process', async () => {
      process.env.EPISODIC_TEST_SECRET = 'secret'
      expect((await play('env')).out).not.toContain('EPISODIC')
    })

    it('shows the files of the folders with modes, links and bytes, and neither what is hidden nor elsewhere', async () => {
      const { out } = await play(
        'cat link "ä b"/* | od -An -tx1; ls; ls -l run.sh | cut -c1-10; ls /etc/of-the-disk; ls -A /tmp',
      )
      expect(out).toBe(' 6f 6e 65 0a 00 ff 80 0a\nlink\nnotes.txt\nrun.sh\ntests\nä b\n-rwxr-xr-x\n')
    })

    it('returns what has changed: contents, modes, links, directories, removals and moves', async () => {
      const script = `echo two >> notes.txt; chmod 600 run.sh; ln -s /nowhere new; mkdir -p d/e; mv "ä b" d/e/f
        printf '\\000\\001' > d/bin; rm link; head -c 5000 /dev/zero > "d/e/f/ü.bin"; ln notes.txt hard; echo tmp > /tmp/t`
      const { changes, after, grown } = await play(script)
      expect(changes.map(({ how, path }) => `${how === 'remove' ? '-' : '+'}${path}`)).toEqual(
        '+/app/d +/app/d/bin +/app/d/e +/app/d/e/f +/app/d/e/f/ü.bin +/app/hard -/app/link +/app/new +/app/notes.txt +/app/run.sh -/app/ä b -/app/ä b/ü.bin +/tmp/t'.split(
          / (?!b)/,
        ),
      )
      expect(after['/app/notes.txt']).toMatchObject({ kind: 'text', text: 'one\ntwo\n' })
      expect(after['/app/hard']).toMatchObject({ kind: 'text', text: 'one\ntwo\n' })
      expect(after['/app/run.sh']).toMatchObject({ mode: 0o600 })
      expect(after['/app/new']).toEqual({ kind: 'link', target: '/nowhere' })
      expect(after['/app/d/e/f/ü.bin']).toMatchObject({ kind: 'bytes', size: 5_000 })
      expect(grown).toBe(4 + 2 + 4_996 + 8 + 4)
      const again = await play('cat hard; cat d/bin d/e/f/* | wc -c; readlink new; ls; cat /tmp/t', { disk: after })
      expect(again.out).toBe('one\ntwo\n5002\n/nowhere\nd\nhard\nnew\nnotes.txt\nrun.sh\ntests\ntmp\n')
      expect(again.changes).toEqual([])
    })

    it('has no other memory than the disk: a session that goes back, or another one, sees what is on its disk', async () => {
      const summary =
        'find . | sort | xargs -d "\\n" ls -ld --time-style=+ | cut -c1-10; cat notes.txt; ls -A /tmp; ls -A ~'
      const { out } = await play(summary)
      await play(
        'rm -rf d; mkdir d; echo x > notes.txt; chmod 700 "ä b"; echo > "$HOME/x"; rm link; echo > link; echo > /tmp/y',
      )
      expect((await play(summary)).out).toBe(out)
      expect((await play(summary, { session: 'other' })).out).toBe(out)
    })

    it('sees a file that has changed on the disk between two commands, also to one of the same size', async () => {
      for (const text of ['1', '2', '3', '33']) {
        const disk = { ...DISK, '/app/notes.txt': { kind: 'text', text } } as Disk
        const { after, out } = await play('cat notes.txt; printf 4 > notes.txt; touch -d @0 notes.txt', { disk })
        expect([out, after['/app/notes.txt']]).toMatchObject([text, { text: '4' }])
      }
    })

    it('cannot change what is read-only, nor remove what holds it or something hidden', async () => {
      const { after } = await play(
        'echo x > tests/a.sh; echo > tests/b; mv tests t; rm -rf /app/* /app; mkdir secret; echo > secret/answer',
      )
      for (const path of ['/app', '/app/tests/a.sh', '/app/secret', '/app/secret/answer'])
        expect(after[path]).toEqual(DISK[path])
      expect(Object.keys(after).sort()).toEqual(expect.not.arrayContaining(['/app/tests/b', '/app/t']))
      expect((await play('ls tests')).out).toBe('a.sh\n')
    })

    it('keeps nothing outside of the folders', async () => {
      await play('echo x > /usr/x; echo x > /etc/x; echo x > /x; echo x > "$HOME/x"')
      expect((await play('ls /usr/x /etc/x /x "$HOME/x"')).out).toBe('')
    })

    it('follows no link that a command has made, and says what a disk cannot keep', async () => {
      const script =
        'ln -s /etc e; ln -s /etc/passwd p; mkfifo f; echo > "$(printf "\\377")"; rm -r "ä b"; ln -s /etc "ä b"'
      const { after, notKept } = await play(script)
      expect(after['/app/p']).toEqual({ kind: 'link', target: '/etc/passwd' })
      expect(after['/app/ä b']).toEqual({ kind: 'link', target: '/etc' })
      expect(Object.keys(after).filter((path) => /^.app.(e|ä b)./.test(path))).toEqual([])
      expect([notKept.length, notKept.join()]).toEqual([2, expect.stringContaining('/app/f')])
      expect((await play('ls "ä b"; ls')).out).toBe('ü.bin\nlink\nnotes.txt\nrun.sh\ntests\nä b\n')
    })

    it('ends what a command has started with it', async () => {
      const script = '(sleep 100; echo late > late.txt) & (setsid sleep 100 > /dev/null 2>&1 &); echo done'
      expect(await play(script)).toMatchObject({ out: 'done\n', exitCode: 0, changes: [] })
    })

    it.each([
      ['time', 'echo a; touch x; sleep 100', { seconds: 0.5 }],
      ['output', 'touch x; yes', { output: 10_000 }],
      ['disk', 'touch x; head -c 3000000 /dev/zero > big', { disk: 1_000_000 }],
    ] as const)(
      'ends a command that needs more %s than it may have, and keeps nothing of it',
      async (ended, script, bounds) => {
        expect(await play(script, { bounds })).toMatchObject({ ended, exitCode: 137, changes: [], grown: 0 })
        expect((await play('ls')).out).toBe('link\nnotes.txt\nrun.sh\ntests\nä b\n')
      },
    )

    it('does not let a command have more memory than it may', async () => {
      const { exitCode, out } = await play('tail /dev/zero && echo done', { bounds: { memory: 67_108_864 } })
      expect(exitCode).not.toBe(0)
      expect(out).toBe('')
    })

    it('starts no more processes than it may have', async () => {
      const { out } = await play('for i in 1 2 3 4 5 6 7 8 9; do sleep 100 & echo $i; done; echo end', {
        bounds: { processes: 5 },
      })
      expect(out.split('\n').length).toBeLessThan(9)
    })

    it('reaches no network unless it may', async () => {
      expect((await play('cat /proc/net/route | wc -l; ls /sys/class/net')).out).toMatch(/^[01]\n(lo\n)?$/)
    })

    it('rejects with the reason of a signal, and keeps nothing of the command', async () => {
      await expect(play('sleep 100', { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow('no')
      await expect(play('touch x; sleep 100', { signal: AbortSignal.timeout(300) })).rejects.toThrow('timeout')
      expect((await play('ls')).out).not.toContain('x\n')
    })

    it('runs commands of many sessions at once, and those of one in order', async () => {
      const played = await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          play(`ls /tmp; echo ${i} > /tmp/x; sleep 0.1; cat /tmp/x`, { session: `s${i % 6}` }),
        ),
      )
      expect(played.map(({ out }) => out)).toEqual(played.map((_, i) => `${i}\n`))
    })

    it('runs nothing after it was closed', async () => {
      const closed = await open()
      await closed.close()
      const command = { argv: ['true'] } as unknown as MachineCommand
      await expect(closed.run(command, new AbortController().signal)).rejects.toMatchObject({ code: 'machine-closed' })
    })
  })
}
