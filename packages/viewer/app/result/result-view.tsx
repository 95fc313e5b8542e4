import type { ResultCard, ResultCell, ResultPage } from '@episodic/report/view/result-page'
import { Card, Section } from '../parts/card.tsx'
import { FigureStrip } from '../parts/figure-strip.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { IntervalBar } from '../parts/interval-bar.tsx'
import { plain } from '../parts/plain-text.tsx'

export function ResultView({ page }: { readonly page: ResultPage }) {
  const { kind, title, facts, alarms, figures, sections, methods } = page
  return (
    <div class="run">
      <p class="muted">Episodic {kind}</p>
      <h1>{plain(title)}</h1>
      <p class="muted">{plain(facts)}</p>
      {alarms.map((alarm) => (
        <p key={alarm} class="callout" role="alert">
          {plain(alarm)}
        </p>
      ))}
      {figures.length > 0 && <FigureStrip figures={figures} />}
      {sections.map((section) => (
        <Section key={section.title} title={plain(section.title)}>
          {section.cards.map((card) => (
            <ResultBox key={card.title} card={card} />
          ))}
        </Section>
      ))}
      <section class="methods">
        {methods.map((note) => (
          <p key={note}>{note}</p>
        ))}
      </section>
    </div>
  )
}

function ResultBox({ card: { title, table } }: { readonly card: ResultCard }) {
  return (
    <Card title={plain(title)} wide>
      <FiguresTable
        {...table}
        rows={table.rows.map((cells) => cells.map((cell, i) => <ResultFigure key={i} cell={cell} />))}
      />
    </Card>
  )
}

function ResultFigure({ cell }: { readonly cell: ResultCell }) {
  if (typeof cell === 'string') return plain(cell)
  if ('value' in cell) return <IntervalBar {...cell} width={150} />
  return <span class={cell.sense}>{plain(cell.text)}</span>
}
