import type { Route } from './route.ts'

export function parentRoute(route: Route): Route | null {
  const runs: Route = { screen: 'runs', query: '' }
  switch (route.screen) {
    case 'runs':
      return null
    case 'episode':
      return { screen: 'group', run: route.run, task: route.task }
    case 'episodes':
    case 'group':
      return { screen: 'run', run: route.run, tab: 'overview' }
    case 'label': {
      const several = route.run.split(',')
      return several.length > 1
        ? { screen: 'compare', runs: several, base: '' }
        : { screen: 'run', run: route.run, tab: 'overview' }
    }
    case 'run':
    case 'compare':
    case 'set':
    case 'search':
    case 'unknown':
      return runs
  }
}
