import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createDisk, type Disk, readFile } from '@episodic/workspace'
import { describe, expect, it } from 'vitest'
import { digestOf, listExercises, publishedSchema, readExercise } from './exercises.ts'

const SAMPLE = fileURLToPath(new URL('../../../sample', import.meta.url))
const NAMES = ['java/add-up', 'python/double-it', 'rust/hello']
const PUBLISHED = Object.fromEntries(NAMES.map((name) => [name, [digestOf(SAMPLE, name), 1] as [string, number]]))

const read = (name: string) => readExercise(SAMPLE, name, PUBLISHED)
const filesOn = (disk: Disk) => Object.keys(disk).filter((path) => disk[path]?.kind !== 'directory')

describe('readExercise', () => {
  it('gives a player neither tests nor solutions, and all of the instructions', () => {
    expect(listExercises(SAMPLE)).toEqual(NAMES)
    const { given, instructions, solution } = read('java/add-up')
    expect(filesOn(given)).toEqual(['/workspace/add-up/build.gradle', '/workspace/add-up/src/main/java/AddUp.java'])
    expect(instructions).toBe('# Instructions\n\nAdd numbers up.\nThrow nothing.\n')
    expect(solution).toEqual(['/workspace/add-up/src/main/java/AddUp.java'])
    expect(filesOn(read('python/double-it').given)).toEqual(['/workspace/double-it/double_it.py'])
  })

  it('tests what is handed in with files of its own, whatever else a player has changed', () => {
    const { judged, golden } = read('python/double-it')
    const home = '/workspace/double-it'
    const player = createDisk({
      ...golden,
      [`${home}/double_it_test.py`]: '',
      [`${home}/conftest.py`]: 'import os; os._exit(0)\n',
      [`${home}/pytest.ini`]: '[pytest]\n',
    })
    const disk = judged(player)
    expect(filesOn(disk)).toEqual([`${home}/double_it_test.py`, `${home}/double_it.py`])
    expect(readFile(disk, `${home}/double_it_test.py`)).toContain('test_of_three')
    expect(readFile(disk, `${home}/double_it.py`)).toContain('number * 2')
    expect(filesOn(judged(createDisk({ [`${home}/double_it.py`]: { link: `${home}/double_it_test.py` } })))).toEqual([
      `${home}/double_it_test.py`,
    ])
  })

  it('takes further classes of Java, and libraries that the author of a solution in Rust names', () => {
    const java = read('java/add-up')
    expect(filesOn(java.judged(createDisk(java.golden)))).toContain('/workspace/add-up/src/main/java/Sum.java')
    const rust = read('rust/hello')
    expect(rust.solution).toEqual(['/workspace/hello/src/lib.rs'])
    const disk = rust.judged(createDisk({ ...rust.golden, '/workspace/hello/Cargo.toml': '[[test]]\n' }))
    expect(readFile(disk, '/workspace/hello/Cargo.toml')).toContain('anyhow')
  })

  it('refuses files that are not those that were published', () => {
    const other = { ...PUBLISHED, 'rust/hello': PUBLISHED['java/add-up'] as [string, number] }
    expect(() => readExercise(SAMPLE, 'rust/hello', other)).toThrow(/rust\/hello in .* are not those of the published/)
    expect(() => listExercises(`${SAMPLE}/python`)).toThrow(/has no exercise/)
  })
})

describe('the published set', () => {
  it('has 225 exercises, and tests that each has to pass but one', () => {
    const file = new URL('../../../polyglot.json', import.meta.url)
    const published = publishedSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
    const languages = Object.groupBy(Object.keys(published), (name) => name.split('/')[0] ?? '')
    expect(Object.entries(languages).map(([language, names]) => [language, names?.length])).toEqual([
      ['cpp', 26],
      ['go', 39],
      ['java', 47],
      ['javascript', 49],
      ['python', 34],
      ['rust', 30],
    ])
    // It asks for tests, and has none: what it begins with passes, in the original too.
    expect(Object.keys(published).filter((name) => published[name]?.[1] === 0)).toEqual(['go/counter'])
  })
})
