import { plural } from '@episodic/report/text/format'
import { useContext, useEffect, useState } from 'preact/hooks'
import type { Source } from '../source/source.ts'
import { SourceContext, useLoaded, useVersion } from '../source/use-source.ts'

export function DownloadVerdicts({ run }: { readonly run: string }) {
  const source = useContext(SourceContext)
  // Figures as markup have no source.
  return source && <OwnVerdicts run={run} />
}

function OwnVerdicts({ run }: { readonly run: string }) {
  const version = useVersion(run)
  const { value } = useLoaded((source: Source) => source.ownGrades(run), [run], version)
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    if (!value || value.length === 0) return
    const lines = value.map((grade) => `${JSON.stringify(grade)}\n`)
    const url = URL.createObjectURL(new Blob(lines, { type: 'application/jsonl' }))
    setAddress(url)
    return () => URL.revokeObjectURL(url)
  }, [value])
  if (!value || value.length === 0 || address === null) return null
  const file = `grades-${run}.jsonl`
  return (
    <p class="own-verdicts">
      <a class="button" href={address} download={file}>
        Download verdicts
      </a>{' '}
      <span class="muted">
        {plural(value.length, 'verdict')} of this browser, in no figure of this page. To keep them with the run:{' '}
        <code>cat {file} &gt;&gt; &lt;run&gt;/grades.jsonl</code>
      </span>
    </p>
  )
}
