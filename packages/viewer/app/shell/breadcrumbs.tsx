import { plain } from '../parts/plain-text.tsx'
import { shortTask } from '../parts/short-task.ts'
import { parentRoute } from '../route/parent-route.ts'
import { formatRoute, type Route } from '../route/route.ts'
import { useLoaded } from '../source/use-source.ts'

/** Where the screen stands: runs › run › task › attempt. */
export function Breadcrumbs({ route }: { readonly route: Route }) {
  const crumbs = crumbsOf(route)
  return (
    <nav class="breadcrumbs" aria-label="Breadcrumbs">
      <ol>
        {crumbs.map(({ route: target, content }, i) => (
          <li key={formatRoute(target)}>
            {i === crumbs.length - 1 ? (
              <span class="clip" aria-current="page">
                {content}
              </span>
            ) : (
              <a class="clip" href={formatRoute(target)}>
                {content}
              </a>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}

function crumbsOf(route: Route) {
  const runs = { route: { screen: 'runs', query: '' } as Route, content: <>Runs</> }
  if (route.screen === 'runs') return [runs]
  const own = { route, content: <Title route={route} /> }
  if (!('run' in route) || route.run === '') return [runs, own]
  const run: Route = (route.screen === 'label' && parentRoute(route)) || {
    screen: 'run',
    run: route.run,
    tab: 'overview',
  }
  // The name of a run often says who played, which a person who judges must not know.
  const ofRun = { route: run, content: route.screen === 'label' ? <>Run</> : <RunName run={route.run} /> }
  if (route.screen === 'run') return [runs, ofRun]
  if (route.screen !== 'episode') return [runs, ofRun, own]
  const group: Route = { screen: 'group', run: route.run, task: route.task }
  return [runs, ofRun, { route: group, content: <Title route={group} /> }, own]
}

function RunName({ run }: { readonly run: string }) {
  const { value } = useLoaded((source) => source.runs(), [])
  return plain(value?.find(({ id }) => id === run)?.name ?? run)
}

function Title({ route }: { readonly route: Route }) {
  switch (route.screen) {
    case 'episodes':
      return <>Episodes</>
    case 'group':
      return <>Task {plain(shortTask(route.task))}</>
    case 'episode':
      return (
        <>
          Attempt {route.attempt}
          {route.try === null ? '' : `, try ${route.try}`}
        </>
      )
    case 'compare':
      return <>Compare</>
    case 'set':
      return <>Set {plain(route.set)}</>
    case 'search':
      return <>Search</>
    case 'label':
      return <>Label {plain(route.grader)}</>
    default:
      return <>Not found</>
  }
}
