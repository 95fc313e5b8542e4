import { findDataProblem, toDataFolder } from '@episodic/benchmarks/suite/data-folder'
import { filesOf } from '@episodic/benchmarks/suite/suite-data'
import { formatBytes, NOTHING, plural } from '@episodic/report/text/format'
import { alignColumns } from '@episodic/run/base/align-columns'
import { shownPath } from '@episodic/run/base/console'
import { formatSource } from './get-data.ts'
import { listSuiteFiles, readSuite, type SuiteFile } from './suite-file.ts'
import { worldName } from './suite-plan.ts'

export function listSuites() {
  const problems: string[] = []
  const suites = listSuiteFiles().flatMap((file) => {
    try {
      const { suite } = readSuite(file)
      const { name, version, worlds, data } = suite
      const tasks = worlds.reduce<number | null>((sum, { tasks }) => (sum === null || !tasks ? null : sum + tasks), 0)
      const licences = [...new Set(data?.sources.map(({ licence }) => licence.name))]
      return [{ name, version, file, worlds: worlds.map(worldName), tasks, licences, data: formatData(suite).state }]
    } catch (error) {
      problems.push((error as Error).message)
      return []
    }
  })
  const rows = suites.map(({ name, version, worlds, tasks, licences, data }) => [
    name,
    version,
    worlds.length > MOST_NAMED ? plural(worlds.length, 'world') : worlds.join(', '),
    tasks === null ? NOTHING : String(tasks),
    licences.join(', ') || NOTHING,
    { none: NOTHING, here: 'here', missing: `episodic suite get ${name}` }[data],
  ])
  return { suites, problems, table: alignColumns(['suite', 'version', 'worlds', 'tasks', 'licence', 'data'], rows, 6) }
}

const MOST_NAMED = 6

/** Says what data a suite needs, how large it is, under which licence, and whether it is here. */
export function formatData({ name, data }: SuiteFile) {
  if (!data) return { state: 'none', lines: [`${name} needs no data that this command gets.`] } as const
  const where = shownPath(toDataFolder(name))
  if (!findDataProblem(name, data))
    return { state: 'here', lines: [`The data of ${name} is in ${where}, as it was published (SHA-256).`] } as const
  const files = filesOf(data)
  const kept = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const lines = [
    `${name} keeps ${plural(files.length, 'file')} of ${formatBytes(kept)} in ${where}:`,
    ...data.sources.map((source) => {
      const whole = 'bytes' in source ? `, a wheel of ${formatBytes(source.bytes)}` : ''
      return `  ${formatSource(source)}, licence ${source.licence.name}${whole}`
    }),
  ]
  return { state: 'missing', lines } as const
}
