import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { CreateError, createProject } from './create-project.ts'

const CLI = fileURLToPath(new URL('../cli.ts', import.meta.url))
const above = mkdtempSync(join(tmpdir(), 'episodic-create-'))
afterAll(() => rmSync(above, { recursive: true }))

let count = 0
/** Makes a folder with files. */
function folderWith(files: Readonly<Record<string, string>>, name = `folder ${++count}`): string {
  const folder = join(above, name)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}
const textOf = (folder: string, path: string) => readFileSync(join(folder, path), 'utf8')
const manifestOf = (folder: string) => JSON.parse(textOf(folder, 'package.json'))

const OWN = ['README.md', 'AGENTS.md', '.github/workflows/test.yml', 'world.test.ts']

describe('createProject', () => {
  it('leaves every file of a repository that has a licence, a README and a package as it is', () => {
    const files = {
      ...Object.fromEntries([...OWN, 'LICENSE', '.git/HEAD', 'src/index.js'].map((path) => [path, `my ${path}`])),
    }
    const own = {
      name: 'mine',
      type: 'module',
      scripts: { test: 'mocha', lint: 'eslint' },
      dependencies: { zod: '^4.0.0' },
    }
    const folder = folderWith({ ...files, 'package.json': JSON.stringify(own, null, '\t') })
    const { created, changed, kept } = createProject(folder, 'world')
    for (const [path, text] of Object.entries(files)) expect(textOf(folder, path)).toBe(text)
    expect({ created, changed, kept }).toEqual({
      created: ['.gitignore', 'world.ts', 'tsconfig.json', '.vscode/launch.json'],
      changed: ['package.json'],
      kept: ['world.test.ts', 'README.md', 'AGENTS.md', '.github/workflows/test.yml'],
    })
    const { scripts, dependencies, ...manifest } = manifestOf(folder)
    expect(manifest).toMatchObject({ name: 'mine', type: 'module' })
    expect(scripts).toMatchObject({ ...own.scripts, check: 'episodic check world.ts' })
    expect(scripts['test:world']).toMatch(/^tsc -p tsconfig.json && vitest run/)
    expect(dependencies.zod).toBe('^4.0.0')
    expect(dependencies.episodic).toMatch(/^\^\d/)
    expect(textOf(folder, 'package.json')).toMatch(/^\t"name"/m)
  })

  it('makes a world of what npm init has written', () => {
    const folder = folderWith({})
    mkdirSync(folder, { recursive: true })
    execFileSync('npm', ['init', '--yes', '--init-type=commonjs'], { cwd: folder })
    createProject(folder, 'game')
    const { type, scripts } = manifestOf(folder)
    expect(type).toBe('module')
    expect(scripts.test).toMatch(/vitest/)
    expect(scripts).not.toHaveProperty('test:world')
  })

  it('installs nothing for a workspace that is compiled', () => {
    const folder = folderWith({})
    createProject(folder, 'workspace')
    expect(Object.keys(manifestOf(folder).overrides['just-bash'])).toEqual(['@mongodb-js/zstd', 'node-liblzma'])
  })

  it('compiles beside a project that has options of its own, and ignores what it ignores', () => {
    const folder = folderWith({ 'tsconfig.json': '{}', '.gitignore': 'node_modules\ndist' })
    const { created, kept } = createProject(folder, 'world')
    expect(created).toContain('tsconfig.world.json')
    expect(kept).not.toContain('tsconfig.json')
    expect(textOf(folder, 'tsconfig.json')).toBe('{}')
    expect(JSON.parse(textOf(folder, 'tsconfig.world.json')).include).toEqual(['world*.ts'])
    expect(manifestOf(folder).scripts.test).toMatch(/^tsc -p tsconfig.world.json /)
    expect(textOf(folder, '.gitignore')).toBe('node_modules\ndist\nruns/\n')
    rmSync(join(folder, 'world.ts'))
    expect(createProject(folder, 'world')).toMatchObject({ created: ['world.ts'], changed: [] })
  })

  it('writes nothing where a world is', () => {
    const folder = folderWith({ 'world.ts': 'mine' })
    expect(() => createProject(folder, 'world')).toThrow(CreateError)
    expect(readdirSync(folder)).toEqual(['world.ts'])
  })

  it.each(['index.js', 'src/index.ts'])('writes nothing where %s is no ES module', (path) => {
    const folder = folderWith({ [path]: 'module.exports = 1', 'package.json': '{ "name": "mine" }' })
    expect(() => createProject(folder, 'world')).toThrow(/no ES module.*Name a new folder/s)
    expect(existsSync(join(folder, 'world.ts'))).toBe(false)
    expect(textOf(folder, 'package.json')).toBe('{ "name": "mine" }')
  })
})

describe('npm create episodic', () => {
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    spawnSync(process.execPath, [CLI, ...args], { cwd: above, encoding: 'utf8', env: { ...process.env, ...env } })

  it('prints a path that a shell takes', () => {
    const { stdout } = run(["it's mine"])
    const [, command = ''] = /^ {2}(cd .*)$/m.exec(stdout) ?? []
    expect(execFileSync('sh', ['-c', `${command} && pwd`], { cwd: above, encoding: 'utf8' })).toMatch(/it's mine\n$/)
  })

  it.each([
    ['npm/11.0.0 node/v24', ['npm install', 'npm test', 'npm run play']],
    ['pnpm/10.34.9 npm/? node/v24', ['pnpm install', 'pnpm run test', 'pnpm run play']],
    ['yarn/4.9.0 npm/? node/v24', ['yarn install', 'yarn run test', 'yarn run play']],
    ['bun/1.3.0 npm/? node/v24', ['bun install', 'bun run test', 'bun run play']],
  ])('prints the commands of %s', (npm_config_user_agent, commands) => {
    const { stdout } = run([`with ${npm_config_user_agent.slice(0, 3)}`], { npm_config_user_agent })
    expect([...stdout.matchAll(/^ {2}(?!cd)(.*)$/gm)].map(([, command]) => command)).toEqual(commands)
  })

  it.each([
    ['--kind game', ['y', 'game'], 'true'],
    ['--kind=game', ['y'], 'game'],
  ])('says where -- goes before %s, which npm keeps', (_, args, npm_config_kind) => {
    const { status, stderr } = run(args, { npm_config_kind })
    expect(status).toBe(2)
    expect(stderr).toContain('npm create episodic y -- --kind')
    expect(existsSync(join(above, 'y'))).toBe(false)
  })
})
