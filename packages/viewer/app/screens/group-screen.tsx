import type { Route } from '../route/route.ts'

type GroupRoute = Route & { readonly screen: 'group' }

export function GroupScreen({ route }: { readonly route: GroupRoute }) {
  return <h1>{route.screen}</h1>
}
