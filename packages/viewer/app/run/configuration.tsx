import type { Json } from '@episodic/protocol'
import type { RunDetail } from '@episodic/report/view/run-entry'
import { Card, Section } from '../parts/card.tsx'
import { CommandLine } from '../parts/copy.tsx'
import { plain } from '../parts/plain-text.tsx'

export function Configuration({
  detail: { configuration, commands },
}: {
  readonly detail: Pick<RunDetail, 'configuration' | 'commands'>
}) {
  const settings = Object.entries(configuration)
  const lines = Object.entries(commands)
  return (
    <Section title="Configuration">
      {lines.length > 0 && (
        <Card title="Commands" caption="To copy: these pages never start, stop or change a run." wide>
          <dl class="commands">
            {lines.map(([purpose, command]) => (
              <div key={purpose}>
                <dt>{purpose}</dt>
                <dd>
                  <CommandLine command={command} />
                </dd>
              </div>
            ))}
          </dl>
        </Card>
      )}
      <Card title="Settings of the run" empty="No configuration was recorded." wide>
        {settings.length > 0 && (
          <dl class="settings">
            {settings.map(([name, value]) => (
              <div key={name}>
                <dt>{plain(name)}</dt>
                <dd class="mono wrap">{plain(readable(value))}</dd>
              </div>
            ))}
          </dl>
        )}
      </Card>
    </Section>
  )
}

function readable(value: Json | undefined): string {
  if (typeof value === 'string') return value
  const short = JSON.stringify(value, null, 1)?.replace(/\n\s*/g, ' ') ?? ''
  return short.length <= 100 ? short : JSON.stringify(value, null, 2)
}
