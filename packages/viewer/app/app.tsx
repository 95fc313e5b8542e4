import type { ComponentChildren } from 'preact'
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
import { UnknownScreen } from './screens/unknown-screen.tsx'
import type { Source } from './source/source.ts'
import { SourceContext } from './source/use-source.ts'

/** The whole page: the screen of its address. */
export function App({ source }: { readonly source: Source }) {
  const route = useRoute()
  return (
    <SourceContext.Provider value={source}>
      <Shell withheld={source.withheld}>
        <Screen route={route} />
      </Shell>
    </SourceContext.Provider>
  )
}

function Screen({ route }: { readonly route: Route }) {
  switch (route.screen) {
    case 'runs':
      return <RunsScreen route={route} />
    case 'run':
      return <RunScreen route={route} />
    case 'episodes':
      return <EpisodesScreen route={route} />
    case 'group':
      return <GroupScreen route={route} />
    case 'episode':
      return <EpisodeScreen route={route} />
    case 'compare':
      return <CompareScreen route={route} />
    case 'search':
      return <SearchScreen route={route} />
    case 'label':
      return <LabelScreen route={route} />
    case 'unknown':
      return <UnknownScreen route={route} />
  }
}

/** What stands around every screen. */
function Shell({ withheld, children }: { readonly withheld: readonly string[]; readonly children: ComponentChildren }) {
  return (
    <>
      <header class="shell">
        <a class="brand" href="#/">
          Episodic
        </a>
      </header>
      {withheld.length > 0 && <p class="withheld">{withheld.join(' ')}</p>}
      <main>{children}</main>
    </>
  )
}
