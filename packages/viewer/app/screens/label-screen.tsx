import type { Route } from '../route/route.ts'

type LabelRoute = Route & { readonly screen: 'label' }

export function LabelScreen({ route }: { readonly route: LabelRoute }) {
  return <h1>{route.screen}</h1>
}
