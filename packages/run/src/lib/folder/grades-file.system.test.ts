import { appendFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GradeRecord } from '@episodic/report/grades/grade-record'
import { afterAll, describe, expect, it } from 'vitest'
import { createGradeAppender, readGrades } from './grades-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'grades-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function aGrade(seal: string): GradeRecord {
  const grader = { name: 'g', version: '1', sha256: 'sha', kind: 'model' } as const
  const messages = [{ role: 'user', content: 'x'.repeat(9_000) }]
  return {
    format: 1,
    run: 'run',
    task: 't',
    attempt: 0,
    try: 0,
    seal,
    grader,
    vote: 0,
    revision: 0,
    drawn: true,
    value: true,
    why: '',
    evidence: [],
    asked: { model: 'm', promptTokens: 1, completionTokens: 1, cost: null, messages },
    at: '2026-01-01T00:00:00.000Z',
  }
}

describe('createGradeAppender', () => {
  it('keeps every verdict whole when several append to one file at once, after a torn line too', async () => {
    const file = join(folder, 'shared.jsonl')
    writeFileSync(file, '{"format":1,"ru')
    const appenders = Array.from({ length: 3 }, () => createGradeAppender(file))
    await Promise.all(Array.from({ length: 300 }, (_, i) => appenders[i % 3]!(aGrade(`${i}`))))
    appendFileSync(file, '{"format":1')
    const skipped: number[] = []
    const grades = await readGrades(file, { onSkipped: (line) => skipped.push(line) })
    expect(grades.map(({ seal }) => Number(seal)).toSorted((a, b) => a - b)).toEqual([...Array(300).keys()])
    expect(skipped[0]).toBe(1)
    expect(skipped).toHaveLength(2)
  })

  it('keeps the messages of judges, which are read only if they are asked for', async () => {
    const file = join(folder, 'messages.jsonl')
    await createGradeAppender(file)(aGrade('a'))
    expect((await readGrades(file))[0]?.asked?.messages).toEqual([])
    expect(await readGrades(file, { messages: true })).toEqual([aGrade('a')])
  })

  it('rejects with disk-failed, also through a link, and writes nothing there', async () => {
    const [link, target] = [join(folder, 'link.jsonl'), join(folder, 'target.txt')]
    writeFileSync(target, 'mine')
    symlinkSync(target, link)
    await expect(createGradeAppender(link)(aGrade('a'))).rejects.toMatchObject({ code: 'disk-failed' })
    expect(readFileSync(target, 'utf8')).toBe('mine')
    const append = createGradeAppender(join(folder, 'no', 'such.jsonl'))
    const both = await Promise.allSettled([append(aGrade('a')), append(aGrade('b'))])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  it('reads nothing where there is no file', async () => {
    expect(await readGrades(join(folder, 'none.jsonl'))).toEqual([])
  })
})
