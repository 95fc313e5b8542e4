import { QUERY_FIELDS } from '@episodic/report/query/query-fields'
import type { Dictionaries } from '@episodic/report/rows/columns'
import { useClosingBox } from '../../parts/closing-box.ts'
import { code, plain } from '../../parts/plain-text.tsx'

interface QueryHelpProps {
  readonly dictionaries: Dictionaries
  readonly graders: readonly string[]
}

export function QueryHelp({ dictionaries: { terms, tags, ending: endings }, graders }: QueryHelpProps) {
  const numbers = Object.keys(QUERY_FIELDS).filter((name) => QUERY_FIELDS[name]?.kind === 'number')
  const tag = tags.flat()[0] ?? 'wide'
  const lines: [string, string][] = [
    ['success:no', 'finished, and no success; also truncated:yes, result:fell-short,truncated'],
    ['failed:yes', 'failed, or by the code of the failure: failed:server-failed'],
    ['ending:no-action', `how it ended or failed: ${endings.slice(1).join(', ') || 'no episode is sealed yet'}`],
    [`tag:${tag}`, 'also split:train, player:llm:*, version:step-12; several with commas between them'],
    ['steps>10', `a number, or a range such as 5..10: ${numbers.join(', ')}; times are in seconds`],
    [`term.${terms[0] ?? 'cost'}<0`, `the sum of a reward term: ${terms.join(', ')}`],
    ...terms.filter((term) => term.startsWith('verdict.')).map((term): [string, string] => [`${term}:no`, 'a verdict']),
    [`grade.${graders[0] ?? 'polite'}:no`, `a verdict: ${graders.join(', ') || 'there are none yet'}`],
    ['task:5e47', 'the beginning of the id of a task'],
    ['"some words"', 'words in the prompt, of the model, in calls, answers or failures'],
    ['-steps>10', 'not so'],
    ['counts:no', 'tries that do not count, because another one does'],
  ]
  const box = useClosingBox()
  return (
    <details class="popover" ref={box}>
      <summary class="button">Query</summary>
      <dl class="frame popover-list query-help">
        {lines.map(([example, meaning]) => (
          <div key={meaning}>
            <dt>{code(example)}</dt>
            <dd class="muted">{plain(meaning)}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
