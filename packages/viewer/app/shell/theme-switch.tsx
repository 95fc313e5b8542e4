import { useEffect, useState } from 'preact/hooks'
import { chooseTheme, keptTheme, THEMES } from './theme.ts'

const SIGNS = { system: '◐', light: '☀', dark: '☾' } as const

/** Switches between the system's theme, the light one and the dark one. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState(keptTheme)
  useEffect(() => chooseTheme(theme), [theme])
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system'
  return (
    <button
      type="button"
      class="icon-button"
      title={`Theme: ${theme}. Change to ${next}.`}
      aria-label={`Theme: ${theme}. Change to ${next}.`}
      onClick={() => setTheme(next)}
    >
      <span aria-hidden="true">{SIGNS[theme]}</span>
    </button>
  )
}
