import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { missingPackage } from './missing-package.ts'

/** Returns the error of a `require` of something that is not installed. */
function failureOf(specifier: string): unknown {
  try {
    return createRequire(import.meta.url)(specifier)
  } catch (error) {
    return error
  }
}

describe('missingPackage', () => {
  it.each([
    ['not-installed', 'not-installed'],
    ['@not/installed', '@not/installed'],
    ['not-installed/part', 'not-installed'],
  ])('names the line that installs what %s needs', (specifier, name) => {
    expect(missingPackage(failureOf(specifier), '--queue', `${name}@6 --ignore-scripts`)).toBe(
      `--queue needs the package ${name}, which is not installed. Install it: npm install ${name}@6 --ignore-scripts`,
    )
  })

  it('knows the error of an import', async () => {
    const load = (specifier: string) => import(specifier)
    const error = await load('not-installed/part').catch((cause: unknown) => cause)
    expect(missingPackage(error, 'llm:', 'not-installed@1')).toContain('npm install not-installed@1')
  })

  it('names the one of several that is missing', () => {
    const said = missingPackage(failureOf('not-installed'), 'llm:', 'zod@4 not-installed@1')
    expect(said).toMatch(/^llm: needs the package not-installed,.*npm install zod@4 not-installed@1$/)
  })

  it.each(['a-dependency-of-it', 'not-installed-either', './not-installed'])(
    'leaves other errors alone, such as that of %s',
    (specifier) => expect(missingPackage(failureOf(specifier), 'llm:', 'not-installed@1')).toBeNull(),
  )

  it('leaves what a package throws alone', () => {
    expect(missingPackage(new Error("Cannot find module 'not-installed'"), 'llm:', 'not-installed@1')).toBeNull()
  })
})
