import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { defineEnvironment, rehearse } from '@episodic/mcp-server'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createDisk, type NewFile } from '../../disk/create-disk.ts'
import type { Disk } from '../../disk/disk.ts'
import { listFiles, readBytes } from '../../disk/read-disk.ts'
import { runCommand } from '../../tools/run-command.ts'
import { startWorkspace, type WorkspaceState, workspaceState } from '../../tools/workspace-state.ts'
import { type WorkspaceOptions, workspaceTools } from '../../tools/workspace-tools.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'episodic-git-'))
  folders.push(folder)
  return folder
}

/** Runs a script with the git of this machine. */
function inBash(folder: string, script: string): string {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
    GIT_CONFIG_GLOBAL: '/nowhere/gitconfig',
  }
  return execFileSync('bash', ['-c', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] }).toString()
}

function filesIn(folder: string): Record<string, NewFile> {
  const files: Record<string, NewFile> = {}
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const place = `/app${path.slice(folder.length)}`
    files[place] = entry.isDirectory() ? { directory: true } : readFileSync(path)
  }
  return files
}

function writeTo(folder: string, disk: Disk): void {
  for (const { path, kind } of listFiles(disk, '/app')) {
    const place = join(folder, path.slice('/app/'.length))
    const entry = disk[path]
    mkdirSync(kind === 'directory' ? place : dirname(place), { recursive: true })
    if (entry?.kind === 'link') symlinkSync(entry.target, place)
    else if (kind === 'file') writeFileSync(place, readBytes(disk, path) ?? '')
  }
}

function open(disk: Disk, options: WorkspaceOptions = {}) {
  const environment = defineEnvironment({
    name: 'repository',
    version: '1.0.0',
    description: 'A repository.',
    state: { public: z.object({}), private: z.object({ ...workspaceState }) },
    start: () => ({ public: {}, private: startWorkspace(disk) }),
    observe: () => '',
    tools: ({ tool }) => ({ ...workspaceTools(tool, { cwd: '/app', git: true, ...options }) }),
    rewards: {},
  })
  const world = rehearse(environment, { seed: 'seed', strict: true })
  return {
    state: () => world.state.private as unknown as WorkspaceState,
    async bash(command: string) {
      const prepared = await world.prepare('bash', { command })
      return world
        .play('bash', { command }, prepared === undefined ? {} : { prepared })
        .observation.text.replace(/\n$/, '')
    },
  }
}

const NAMES =
  'export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@x.org GIT_COMMITTER_NAME=Bob GIT_COMMITTER_EMAIL=bob@x.org'
const TIMES = "export GIT_AUTHOR_DATE='1700000000 +0100' GIT_COMMITTER_DATE='1700003600 -0500'"

/** A history with a merge, a rename, a link and a program; the objects of its beginning are packed. */
const BEGINNING = `${NAMES}; ${TIMES}; git init -q -b main .
  seq 1 60 > numbers; printf '.log\\n' > .gitignore; mkdir -p src; seq 1 30 > src/list
  git add . && git commit -qm first && git gc -q && git checkout -q -b side
  sed -i 's/^9$/nine/' numbers && git commit -qam 'Say nine' && git checkout -q main`

const REST = `sed -i 's/^50$/fifty/' numbers; git mv src/list src/rows; ln -s numbers link; printf 'echo hi\\n' > run; chmod +x run
  git add -A; git commit -qm 'Rename it

With a reason.'; git merge -q side -m 'Join both' > /dev/null; git tag -a v1 -m 'The first'; git revert --no-edit HEAD~1 > /dev/null
  echo more >> numbers; git stash -q; git branch later HEAD~1; git cherry-pick side > /dev/null; echo 'ü' > 'ü x'; git add .; git commit -qm ü`

const SHOWN =
  "git log --all --format='%H %T %P %an %ae %ai %cn %ci %s'; git rev-parse v1 stash; git status -sb; git ls-files -s"

describe('git', () => {
  it('is there only if it was asked for', async () => {
    const disk = createDisk({ '/app/a': '' })
    expect(await open(disk, { git: false }).bash('git status')).toMatch(/git: command not found/)
    expect(await runCommand(disk, 'git init')).toMatchObject({ exitCode: 127 })
    expect(await open(disk).bash('git status')).toMatch(/^fatal: not a git repository[\s\S]*exit code 128/)
  })

  it('goes on with a packed repository of real git, with the same ids, and real git finds no fault in it', async () => {
    const real = newFolder()
    inBash(real, BEGINNING)
    const { bash, state } = open(createDisk(filesIn(real)))
    await bash(`${NAMES}; ${TIMES}`)
    await bash(REST)
    const shown = inBash(real, `${NAMES}; ${TIMES}; ${REST}; ${SHOWN}`)
    expect(await bash(SHOWN)).toBe(shown.replace(/\n$/, ''))
    const copy = newFolder()
    writeTo(copy, state().disk)
    inBash(copy, 'chmod +x run; git fsck --strict && git status --porcelain && test -z "$(git status --porcelain)"')
    expect(inBash(copy, SHOWN)).toBe(shown)
  })

  it('makes the same objects as real git from the first commit on', async () => {
    const real = newFolder()
    const shown = inBash(real, `${BEGINNING}; ${REST}; ${SHOWN}`)
    const ours = await runCommand(
      createDisk({ '/app': { directory: true } }),
      `${BEGINNING.replace('git gc -q', 'true')}; ${REST}; ${SHOWN}`,
      {
        cwd: '/app',
        git: true,
      },
    )
    expect(ours.stdout).toBe(shown)
  })

  it.each([
    'git checkout -q --detach side',
    'git tag v1 side; git checkout -q v1',
    'git tag -a v1 -m one side; git checkout -q v1; git commit -qm more --allow-empty',
    'git checkout -q side~1',
    'git checkout -q --detach side; git commit -q --allow-empty -m more; git branch -f side HEAD',
    'git tag v1 side; git checkout -q side~1; git checkout -q side~1; git checkout -q refs/heads/side',
    'git update-ref refs/remotes/origin/theirs side; git checkout -q origin/theirs',
  ])('names a detached HEAD as real git does after %s', async (command) => {
    const script = `${BEGINNING.replace('git gc -q', 'true')}; ${command}; git status | head -1; git branch`
    const ours = await runCommand(createDisk({ '/app': { directory: true } }), script, { cwd: '/app', git: true })
    expect(ours.stdout).toBe(inBash(newFolder(), script))
  })

  it('lists stashes and what references were as real git does, and as many as were asked for', async () => {
    const formats = ['%gd %h %gs %s', '100%% %%gd %gD', 'format:%gd', 'tformat:%gd'].map((each) => `--format='${each}'`)
    const lists = ['', '-n 1', '-2', '-n -1', '-n 0', '--oneline', ...formats]
    const script = `${BEGINNING.replace('git gc -q', 'true')}
      for word in a 'b %h' c; do echo "$word" > numbers; git stash -q -m "$word"; done; git branch -qf side side
      git checkout -q side~1; git reset -q --hard HEAD; echo d > numbers; git stash -q; git checkout -q main; git rev-parse ORIG_HEAD
      ${lists.flatMap((each) => [`git stash list ${each}`, `git reflog ${each}`, `git reflog ${each} refs/heads/main`]).join('; ')}`
    const ours = await runCommand(createDisk({ '/app': { directory: true } }), script, { cwd: '/app', git: true })
    expect(ours.stdout).toBe(inBash(newFolder(), script))
  })

  it('has the time of the session and a default name, and keeps a conflict from call to call', async () => {
    const { bash } = open(createDisk({ '/app/poem': 'one\ntwo\nthree\n' }))
    await bash(
      'git init -q; git add .; git commit -qm first; git switch -qc other; sed -i s/two/zwei/ poem; git commit -qam other',
    )
    await bash('sleep 60; git switch -q master; sed -i s/two/deux/ poem; git commit -qam mine')
    expect(await bash("git log -1 --format='%an <%ae> %ai'")).toBe('root <root@localhost> 2025-01-01 00:01:00 +0000')
    expect(await bash('git merge other')).toBe(
      'Auto-merging poem\nCONFLICT (content): Merge conflict in poem\nAutomatic merge failed; fix conflicts and then commit the result.\n[exit code 1]',
    )
    expect(await bash('cat poem; git status -s')).toBe(
      'one\n<<<<<<< HEAD\ndeux\n=======\nzwei\n>>>>>>> other\nthree\nUU poem',
    )
    expect(await bash('git switch other')).toMatch(/poem: needs merge/)
    await bash('printf "one\\nboth\\nthree\\n" > poem; git add poem; git commit -qm joined')
    expect(await bash('git log --format=%s; git status -s')).toBe('joined\nmine\nother\nfirst')
  })

  it('loses nothing: what would be overwritten is refused, and a path that is read-only too', async () => {
    const { bash } = open(createDisk({ '/app/a': 'a\n' }), { readOnly: ['/app/.git/refs'] })
    expect(await bash('git init')).toMatch(/^fatal: cannot write 'refs\/heads': Read-only file system/)
    const { bash: other } = open(createDisk({ '/app/a': 'a\n' }))
    await other(
      'git init -q; git add .; git commit -qm a; git switch -qc b; echo b > a; git commit -qam b; git switch -q master',
    )
    expect(await other('echo mine > a; git switch b')).toMatch(
      /would be overwritten by checkout:\n\ta\n[\s\S]*exit code 1/,
    )
    expect(await other('git stash -q; echo new > n; git switch -q b; git stash pop; cat a n')).toMatch(
      /CONFLICT[\s\S]*new$/,
    )
  })

  it.each([
    ['git frobnicate', "git: 'frobnicate' is not a git command. See 'git --help'.", 1],
    ['git push origin', 'fatal: push is not available here', 128],
    ['git rebase -i HEAD', 'fatal: rebase --interactive is not available here', 128],
    ['git log --frobnicate', "error: unknown option `frobnicate'", 129],
  ])('says what it does not have: %s', async (command, stderr, exitCode) => {
    expect(await runCommand(createDisk({}), `git init -q; ${command}`, { git: true })).toMatchObject({
      stderr: expect.stringContaining(stderr),
      exitCode,
    })
  })
})
