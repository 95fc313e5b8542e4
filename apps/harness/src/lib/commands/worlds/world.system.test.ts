import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadWorld } from '@episodic/play/worlds/world'
import { afterAll, describe, expect, it } from 'vitest'
import { COIN_WORLD } from '../../fixtures/episodic.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
afterAll(() => rmSync(folder, { recursive: true }))
function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}

describe('loadWorld', () => {
  it.each([
    ['a module', './coin.ts', { 'coin.ts': COIN_WORLD }],
    ['a folder with an index', 'plain', { 'plain/index.ts': COIN_WORLD }],
    [
      'a package by its exports',
      './pack',
      { 'pack/package.json': '{"exports":{".":"./a.ts"}}', 'pack/a.ts': COIN_WORLD },
    ],
    ['a bare name on a shelf', 'shelved', { 'worlds/shelved/src/index.ts': COIN_WORLD }],
    ['a module on a shelf by its name alone', 'lone', { 'worlds/lone.ts': COIN_WORLD }],
    [
      'an installed package',
      'coin-world',
      { 'node_modules/coin-world/package.json': '{"main":"m.mjs"}', 'node_modules/coin-world/m.mjs': COIN_WORLD },
    ],
    [
      "a world of the folder's own classics by its name",
      'coin-toss',
      {
        'node_modules/@episodic/classics/package.json': '{"exports":{"./coin-toss":"./toss.mjs"}}',
        'node_modules/@episodic/classics/toss.mjs': COIN_WORLD,
      },
    ],
  ])('finds %s', async (_, reference, files) => {
    for (const [name, text] of Object.entries(files)) write(name, text as string)
    const world = await loadWorld(reference, folder)
    expect(world).toMatchObject({ environment: { name: 'coin' }, tasks: null, solver: null, policies: {} })
  })

  it.each(['taxi', '@episodic/classics/taxi'])('finds the classics that the command brings: %s', async (reference) => {
    expect(await loadWorld(reference, folder)).toMatchObject({ environment: { name: 'taxi' } })
  })

  it('names the available worlds, and ignores other files in the folder', async () => {
    write('examples/known/index.ts', COIN_WORLD)
    write('examples/notes.txt', '')
    write('examples/train.ts', "import { environment } from './known/index.ts'\n")
    mkdirSync(join(folder, 'examples/empty'), { recursive: true })
    symlinkSync('/nowhere/at/all', join(folder, 'examples/broken'))
    await expect(loadWorld('unknown', folder)).rejects.toMatchObject({
      code: 'world-not-found',
      message: expect.stringMatching(/no world "unknown"\. There is: .*known.*\. Give a name/),
    })
    await expect(loadWorld('unknown', folder)).rejects.not.toMatchObject({
      message: expect.stringMatching(/empty|broken|notes|train/),
    })
  })

  it("reports the file, line and column of the author's own frames if a module throws", async () => {
    const source = `import { createRulesInterpreter, wholeNumber } from '${import.meta.resolve('@episodic/contexts/interpret')}'

function makeInterpreter() {
  return createRulesInterpreter({ order: { phrases: ['order'], slots: { cups: { entity: wholeNumber } } } })
}
export const interpreter = makeInterpreter()
`
    write('cafe.ts', source)
    const error = await loadWorld('./cafe.ts', folder).catch((cause) => cause)
    expect(error.code).toBe('world-invalid')
    const [what, ...frames] = error.message.split('\n')
    expect(what).toContain('The entity of the slot "cups" of "order" is the function wholeNumber')
    expect(frames[0]).toMatch(/^\s+at makeInterpreter \(.*cafe\.ts:4:\d+\)$/)
    expect(frames[1]).toMatch(/^\s+at .*cafe\.ts:6:\d+\)?$/)
    expect(frames.join()).not.toMatch(/compile-rule|node:internal|world\.ts/)
  })

  it('reports the line of a syntax error', () => {
    write('unparsed.ts', 'export const one = 1\nexport const two = ;\n')
    // In a process of its own, because modules are parsed by something else here than by Node.
    const cli = fileURLToPath(new URL('../../../cli.ts', import.meta.url))
    const ended = spawnSync(process.execPath, [cli, 'check', './unparsed.ts'], { cwd: folder, encoding: 'utf8' })
    expect(ended.status).toBe(1)
    expect(ended.stderr).toMatch(/does not load: .*\n {4}at unparsed\.ts:2\n$/)
  })

  it.each([
    ['throws', 'throw new Error("broken")', /does not load: broken/],
    ['exports no environment', 'export const environment = {}', /no "environment" made by defineEnvironment\. Write/],
    [
      'exports an environment as its default alone',
      `${COIN_WORLD.replace('export const environment', 'const environment')}\nexport default environment`,
      /Its default export is one: export it by its name/,
    ],
    [
      'exports an environment by another name',
      COIN_WORLD.replace('export const environment', 'export const coin'),
      /Its export "coin" is one: export it as "environment"/,
    ],
    [
      'exports a promise of an environment',
      'export const environment = Promise.resolve({})',
      /is a promise: write `export const environment = await/,
    ],
    [
      'exports a policy that is none',
      `${COIN_WORLD}\nexport const policies = { odd: 3 }`,
      /"odd" that is not a policy/,
    ],
  ])('says so where a module %s', async (name, source, message) => {
    const file = `./${name.replaceAll(' ', '-')}.ts`
    write(file, source)
    await expect(loadWorld(file, folder)).rejects.toMatchObject({
      code: 'world-invalid',
      message: expect.stringMatching(message),
    })
  })
})
