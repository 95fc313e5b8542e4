import { useEffect, useState } from 'preact/hooks'
import { keepWord, keptWord } from '../parts/kept-word.ts'

const THEMES = ['system', 'light', 'dark'] as const

const KEY = 'episodic-theme'

const SIGNS = { system: '◐', light: '☀', dark: '☾' } as const

export function ThemeSwitch() {
  const [theme, setTheme] = useState(keptTheme)
  useEffect(() => chooseTheme(theme), [theme])
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system'
  return (
    <button
      type="button"
      class="button icon"
      title={`Theme: ${theme}. Change to ${next}.`}
      aria-label={`Theme: ${theme}. Change to ${next}.`}
      onClick={() => setTheme(next)}
    >
      <span aria-hidden="true">{SIGNS[theme]}</span>
    </button>
  )
}

type Theme = (typeof THEMES)[number]

function keptTheme(): Theme {
  return THEMES.find((theme) => theme === keptWord(KEY)) ?? 'system'
}

function chooseTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  keepWord(KEY, theme)
}
