import { shownPath } from '../console.ts'

/** The command that was given, so that it goes on where it stopped; quoted for a POSIX shell. */
export function resumeLine(folder: string): string {
  const given = process.argv.slice(2).filter((word) => word !== '--resume')
  const out = given.some((word) => word === '--out' || word.startsWith('--out=')) ? [] : ['--out', shownPath(folder)]
  return ['episodic', ...given, ...out, '--resume']
    .map((word) => (/^[\w./:=@,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ')
}
