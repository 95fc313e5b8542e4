import { useRef } from 'preact/hooks'
import { type RowList, RowListContext } from './list/row-list.ts'
import { EmptyNote } from './parts/notes.tsx'
import { plain } from './parts/plain-text.tsx'
import type { Route } from './route/route.ts'
import { useRoute } from './route/use-route.ts'
import { CompareScreen } from './screens/compare-screen.tsx'
import { EpisodeScreen } from './screens/episode-screen.tsx'
import { EpisodesScreen } from './screens/episodes-screen.tsx'
import { GroupScreen } from './screens/group-screen.tsx'
import { LabelScreen } from './screens/label-screen.tsx'
import { RunScreen } from './screens/run-screen.tsx'
import { RunsScreen } from './screens/runs-screen.tsx'
import { SearchScreen } from './screens/search-screen.tsx'
import { SetScreen } from './screens/set-screen.tsx'
import { Shell } from './shell/shell.tsx'
import type { Source } from './source/source.ts'
import { SourceContext } from './source/use-source.ts'

export function App({ source }: { readonly source: Source }) {
  const route = useRoute()
  const list = useRef<RowList | null>(null)
  return (
    <SourceContext.Provider value={source}>
      <RowListContext.Provider value={list}>
        <Shell route={route}>
          <Screen route={route} />
        </Shell>
      </RowListContext.Provider>
    </SourceContext.Provider>
  )
}

/** The screens of one run begin anew with another one, so that they never show what was loaded of both. */
function Screen({ route }: { readonly route: Route }) {
  switch (route.screen) {
    case 'runs':
      return <RunsScreen route={route} />
    case 'run':
      return <RunScreen key={route.run} route={route} />
    case 'episodes':
      return <EpisodesScreen key={route.run} route={route} />
    case 'group':
      return <GroupScreen key={route.run} route={route} />
    case 'episode':
      return <EpisodeScreen key={route.run} route={route} />
    case 'compare':
      return <CompareScreen route={route} />
    case 'set':
      return <SetScreen set={route.set} />
    case 'search':
      return <SearchScreen route={route} />
    case 'label':
      return <LabelScreen route={route} />
    case 'unknown':
      return <UnknownScreen route={route} />
  }
}

type UnknownRoute = Route & { readonly screen: 'unknown' }

function UnknownScreen({ route }: { readonly route: UnknownRoute }) {
  return (
    <EmptyNote whole title="No screen has this address">
      <p>
        <code>#{plain(route.address)}</code>
      </p>
      <p>
        <a href="#/">All runs</a>
      </p>
    </EmptyNote>
  )
}
